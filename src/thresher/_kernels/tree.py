"""Decision trees: growing a tree, and finding the leaves of documents.

The entries of all documents are sorted by column and value; the number of an entry is its position
in that order. A node to be split has a frame: the numbers of its entries, column by column, and the
weight of all and of the positive documents of each column. Of two children, the one with more
entries keeps the frame, from which the weights of the other are subtracted; the other gets a new
frame. So the cost of a split depends on the smaller child, and a chain of splits that separates a
few documents from many each time is cheap. Weights are such that their sums are exact.
"""

import math

import numpy as np

from thresher._kernels._jit import kernel

TIE = 1e-13  # nats; gains that differ by less are equal, because of rounding
FRAMES = 64  # each has at most half the entries of the previous one
# The fields of a frame: the ranges of its entries, columns and documents, and its node.
ENTRY, ENTRY_END, COLUMN, COLUMN_END, MEMBER, MEMBER_END, NODE, DEPTH, LIVE = range(9)


@kernel
def disorder(p, m):
    """Return the entropy of p positives and m others, in nats, times their number."""
    total = 0.0
    if p > 0 and m > 0:
        total = (p + m) * math.log(p + m) - p * math.log(p) - m * math.log(m)
    return total


@kernel
def gain_of(all_p, all_m, p, m):
    """Return the information gain, times the weight, of separating p and m from the rest."""
    whole = disorder(all_p, all_m)
    return whole - disorder(p, m) - disorder(all_p - p, all_m - m)


@kernel
def least_part(all_p, all_m, bar, low, of_positives):
    """Return a number of positives, or of others, whose separation gains no more than the bar.

    Gain is convex, so that a split with fewer of both on its smaller side gains less.
    """
    high = all_p if of_positives else all_m
    for _ in range(12):
        middle = 0.5 * (low + high)
        p, m = (middle, 0.0) if of_positives else (0.0, middle)
        if gain_of(all_p, all_m, p, m) <= bar:
            low = middle
        else:
            high = middle
    return low


@kernel
def best_split(
    f, frame, entries, documents, values, owner, weights, positive,
    starts, ends, sums, positives, total, total_p, min_leaf,
):  # fmt: skip
    """Return the gain of the best split of a frame's node, its column there and its threshold.

    Of equal gains, the first column's is taken, and of its thresholds the lowest. The column is -1
    if all documents are equal.
    """
    n_members = frame[MEMBER_END] - frame[MEMBER]
    best, chosen, threshold = -1.0, -1, np.float32(0)
    least_p = least_m = 0.0
    for i in range(frame[COLUMN], frame[COLUMN_END]):
        if positives[i] < least_p and sums[i] - positives[i] < least_m:
            continue
        n_zeros = 0  # documents without the column; any number will do if there is no least number
        if sums[i] < total:
            n_zeros = n_members
            if min_leaf > 1:
                for q in range(starts[i], ends[i]):
                    if owner[documents[entries[q]]] == f:
                        n_zeros -= 1
        gain, value, least_p, least_m = best_threshold(
            f, entries[starts[i] : ends[i]], documents, values, owner, weights, positive,
            total - sums[i], total_p - positives[i], n_zeros,
            total, total_p, n_members, min_leaf, best, least_p, least_m,
        )  # fmt: skip
        if gain > best:
            best, chosen, threshold = gain, i, value
    return best, chosen, threshold


@kernel
def best_threshold(
    f, entries, documents, values, owner, weights, positive, zero_sum, zero_positive, n_zeros,
    total, total_p, n_members, min_leaf, best, least_p, least_m,
):  # fmt: skip
    """Return the best gain of a column and its threshold, if it is better than `best`.

    Also returned are the positives and others that any better split must have on one side.
    """
    threshold, last = np.float32(0), np.float32(0)
    left = left_p = 0.0
    n_left = q = 0
    while q <= len(entries):
        # The next value; zero comes before the positive ones, or at the end.
        is_zero, value = q == len(entries), np.float32(0)
        if not is_zero:
            if owner[documents[entries[q]]] != f:
                q += 1
                continue
            value = values[entries[q]]
            is_zero = value > 0 and n_zeros > 0
        if is_zero:
            if n_zeros == 0:
                break
            value, n = np.float32(0), n_zeros
            w, w_p = zero_sum, zero_positive
            n_zeros = 0
        else:
            d, n = documents[entries[q]], 1
            w = weights[d]
            w_p = w if positive[d] else 0.0
            q += 1
        is_allowed = min_leaf == 1 or n_left >= min_leaf <= n_members - n_left
        if n_left > 0 and value != last and is_allowed:
            p, m = total_p - left_p, (total - total_p) - (left - left_p)
            if (p >= least_p or m >= least_m) and (left_p >= least_p or left - left_p >= least_m):
                gain = max(0.0, gain_of(total_p, total - total_p, p, m)) / total
                if gain > best + TIE:
                    best, threshold = gain, value
                    least_p = least_part(total_p, total - total_p, best * total, least_p, True)
                    least_m = least_part(total_p, total - total_p, best * total, least_m, False)
        left += w
        left_p += w_p
        last = value
        n_left += n
    return best, threshold, least_p, least_m


@kernel
def part_members(f, frame, entries, documents, values, owner, lengths, is_right, members, spare,
                 start, end, threshold):  # fmt: skip
    """Move the documents of the child with fewer entries to the end, and return their start.

    Also returned is whether that child is the right one, and how many entries it has.
    """
    zero_right = np.uint8(np.float32(0) >= threshold)
    first, last = frame[MEMBER], frame[MEMBER_END]
    for k in range(first, last):
        is_right[members[k]] = zero_right
    for q in range(start, end):
        d = documents[entries[q]]
        if owner[d] == f:
            is_right[d] = values[entries[q]] >= threshold
    n_right = right_entries = 0
    for k in range(first, last):
        if is_right[members[k]]:
            n_right += 1
            right_entries += lengths[members[k]]
    smaller = np.uint8(2 * right_entries <= frame[LIVE])
    middle = last - n_right if smaller else first + n_right
    n_kept, n_moved = first, 0
    for k in range(first, last):
        d = members[k]
        if is_right[d] == smaller:
            spare[n_moved] = d
            n_moved += 1
        else:
            members[n_kept] = d
            n_kept += 1
    for k in range(n_moved):
        members[middle + k] = spare[k]
    return middle, smaller, right_entries if smaller else frame[LIVE] - right_entries


@kernel
def divide_columns(frame, child, columns, starts, ends, sums, positives, sum_of, positive_of):
    """Move the weights of the smaller child from the columns of a frame to a new frame."""
    n_retained, given = frame[COLUMN], frame[COLUMN_END]
    child[COLUMN] = given
    for i in range(frame[COLUMN], frame[COLUMN_END]):
        j = columns[i]
        if sum_of[j] > 0:
            columns[given], sums[given], positives[given] = j, sum_of[j], positive_of[j]
            given += 1
        if sums[i] > sum_of[j]:
            columns[n_retained], starts[n_retained], ends[n_retained] = j, starts[i], ends[i]
            sums[n_retained] = sums[i] - sum_of[j]
            positives[n_retained] = positives[i] - positive_of[j]
            n_retained += 1
        sum_of[j] = positive_of[j] = 0.0
    frame[COLUMN_END], child[COLUMN_END] = n_retained, given


@kernel
def fill_child(f, frame, child, entries, documents, owner, members, row_starts, row_entries,
               columns, starts, ends, column_of):  # fmt: skip
    """Write the entries of the smaller child into its frame, in order."""
    first = end = frame[ENTRY_END]
    if 16 * child[LIVE] > frame[ENTRY_END] - frame[ENTRY]:
        for q in range(frame[ENTRY], frame[ENTRY_END]):
            if owner[documents[entries[q]]] == f + 1:
                entries[end] = entries[q]
                end += 1
    else:
        for k in range(child[MEMBER], child[MEMBER_END]):
            for q in range(row_starts[members[k]], row_starts[members[k] + 1]):
                entries[end] = row_entries[q]
                end += 1
        entries[first:end].sort()
    child[ENTRY], child[ENTRY_END] = first, end
    q = first
    for i in range(child[COLUMN], child[COLUMN_END]):
        starts[i] = q
        while q < end and column_of[entries[q]] == columns[i]:
            q += 1
        ends[i] = q


@kernel
def close_gaps(f, frame, entries, documents, owner, starts, ends):
    """Remove the entries of documents that have left a frame."""
    n_retained = frame[ENTRY]
    for i in range(frame[COLUMN], frame[COLUMN_END]):
        first, start, end = n_retained, starts[i], ends[i]
        for q in range(start, end):
            if owner[documents[entries[q]]] == f:
                entries[n_retained] = entries[q]
                n_retained += 1
        starts[i], ends[i] = first, n_retained
    frame[ENTRY_END] = n_retained


@kernel
def leave(owner, members, start, end):
    """Remove the documents of a leaf from all frames."""
    for k in range(start, end):
        owner[members[k]] = -1


@kernel
def add_members(
    f, members, owner, row_starts, row_entries, column_of, weights, positive, sum_of, positive_of
):
    """Assign documents to frame `f`, sum their weights by column, and return both totals."""
    total = total_p = 0.0
    for d in members:
        owner[d] = f
        w_p = weights[d] if positive[d] else 0.0
        total += weights[d]
        total_p += w_p
        for q in range(row_starts[d], row_starts[d + 1]):
            j = column_of[row_entries[q]]
            sum_of[j] += weights[d]
            positive_of[j] += w_p
    return total, total_p


@kernel
def fill_root(frame, row_starts, row_entries, column_of, weights, positive, owner, members, entries,
              columns, starts, ends, sums, positives, sum_of, positive_of):  # fmt: skip
    """Write all documents into the first frame; return their weight and that of positives."""
    n = 0
    frame[LIVE] = 0
    for d in range(len(weights)):
        owner[d] = -1
        if weights[d] > 0:
            members[n] = d
            n += 1
            frame[LIVE] += row_starts[d + 1] - row_starts[d]
    total, total_p = add_members(
        0, members[:n], owner, row_starts, row_entries, column_of, weights, positive,
        sum_of, positive_of,
    )  # fmt: skip
    n_columns = q = 0
    for entry in range(len(row_entries)):
        entries[entry] = entry
    while q < len(row_entries):
        j, start = column_of[q], q
        while q < len(row_entries) and column_of[q] == j:
            q += 1
        if sum_of[j] > 0:
            columns[n_columns], starts[n_columns], ends[n_columns] = j, start, q
            sums[n_columns], positives[n_columns] = sum_of[j], positive_of[j]
            n_columns += 1
        sum_of[j] = positive_of[j] = 0.0
    frame[ENTRY], frame[ENTRY_END], frame[COLUMN], frame[COLUMN_END] = 0, q, 0, n_columns
    frame[MEMBER], frame[MEMBER_END], frame[NODE], frame[DEPTH] = 0, n, 0, 0
    return total, total_p


@kernel
def grow(row_starts, row_entries, documents, values, column_of, lengths, weights, positive,
         owner, members, spare, is_right, entries, columns, starts, ends, sums, positives,
         sum_of, positive_of, max_depth, min_split, min_leaf, min_gain,
         node_column, node_threshold, node_left, node_right, node_sum, node_positive):  # fmt: skip
    """Grow a tree into the last six arrays, and return its number of nodes."""
    frames = np.zeros((FRAMES, 9), np.int64)
    node_sum[0], node_positive[0] = fill_root(
        frames[0], row_starts, row_entries, column_of, weights, positive, owner, members, entries,
        columns, starts, ends, sums, positives, sum_of, positive_of,
    )  # fmt: skip
    node_column[0] = -1
    n_nodes, f = 1, 0
    while f >= 0:
        frame = frames[f]
        node, n_members = frame[NODE], frame[MEMBER_END] - frame[MEMBER]
        total, total_p = node_sum[node], node_positive[node]
        gain, i, threshold = -1.0, -1, np.float32(0)
        if 0 < total_p < total and frame[DEPTH] < max_depth and n_members >= min_split:
            if 2 * frame[LIVE] < frame[ENTRY_END] - frame[ENTRY]:
                close_gaps(f, frame, entries, documents, owner, starts, ends)
            gain, i, threshold = best_split(
                f, frame, entries, documents, values, owner, weights, positive,
                starts, ends, sums, positives, total, total_p, min_leaf,
            )  # fmt: skip
        if i < 0 or gain < min_gain:
            leave(owner, members, frame[MEMBER], frame[MEMBER_END])
            f -= 1
            continue
        middle, is_right_smaller, n_entries = part_members(
            f, frame, entries, documents, values, owner, lengths, is_right, members, spare,
            starts[i], ends[i], threshold,
        )  # fmt: skip
        node_column[node], node_threshold[node] = columns[i], threshold
        node_left[node], node_right[node] = n_nodes, n_nodes + 1
        node_column[n_nodes] = node_column[n_nodes + 1] = -1
        smaller = n_nodes + 1 if is_right_smaller else n_nodes
        larger = n_nodes if is_right_smaller else n_nodes + 1
        n_nodes += 2
        total_c, positive_c = add_members(
            f + 1, members[middle : frame[MEMBER_END]], owner, row_starts, row_entries, column_of,
            weights, positive, sum_of, positive_of,
        )  # fmt: skip
        node_sum[smaller], node_positive[smaller] = total_c, positive_c
        node_sum[larger], node_positive[larger] = total - total_c, total_p - positive_c
        child = frames[f + 1]
        child[MEMBER], child[MEMBER_END], child[LIVE] = middle, frame[MEMBER_END], n_entries
        child[NODE], child[DEPTH] = smaller, frame[DEPTH] + 1
        divide_columns(frame, child, columns, starts, ends, sums, positives, sum_of, positive_of)
        frame[MEMBER_END], frame[NODE], frame[LIVE] = middle, larger, frame[LIVE] - n_entries
        frame[DEPTH] += 1
        if 0 < positive_c < total_c:
            fill_child(f, frame, child, entries, documents, owner, members, row_starts, row_entries,
                       columns, starts, ends, column_of)  # fmt: skip
            f += 1
        else:
            leave(owner, members, child[MEMBER], child[MEMBER_END])
    return n_nodes


@kernel
def number_nodes(left, right, order, waiting):
    """Write the nodes in preorder: a node, its left subtree, its right subtree."""
    waiting[0] = 0
    n_waiting, n = 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        order[n] = node
        n += 1
        if left[node] >= 0:
            waiting[n_waiting], waiting[n_waiting + 1] = right[node], left[node]
            n_waiting += 2


@kernel
def find_leaves(indptr, indices, values, roots, columns, thresholds, left, right, strengths,
                leaves, start, end):  # fmt: skip
    """Write the leaf of each document in each tree; `strengths` is a zero for each column."""
    for i in range(start, end):
        for q in range(indptr[i], indptr[i + 1]):
            strengths[indices[q]] = values[q]
        for k in range(len(roots)):
            node = roots[k]
            while columns[node] >= 0:
                is_above = strengths[columns[node]] >= thresholds[node]
                node = right[node] if is_above else left[node]
            leaves[i, k] = node
        for q in range(indptr[i], indptr[i + 1]):
            strengths[indices[q]] = 0


@kernel
def add_up(left, right, sums):
    """Add to every node the sums of its children, which come after it."""
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            sums[node] += sums[left[node]] + sums[right[node]]


@kernel
def interpolate(parents, buckets, unmixed, shares, mixed):
    """Write the probability of each node mixed with its parent's, by the share of its bucket."""
    mixed[0] = unmixed[0]
    for node in range(1, len(unmixed)):
        share = shares[buckets[node]]
        mixed[node] = share * unmixed[node] + (1.0 - share) * mixed[parents[node]]


@kernel
def improve_shares(parents, buckets, unmixed, shares, mixed, reached, stopped, passed):
    """Update the shares by one step of expectation maximization.

    `reached` has, for every leaf, the weight of the held-out documents that belong and of those
    that do not. The part of a row that a node does not explain is added to its parent.
    """
    interpolate(parents, buckets, unmixed, shares, mixed)
    stopped[:], passed[:] = 0.0, 0.0
    for node in range(len(unmixed) - 1, 0, -1):
        b = buckets[node]
        for side in range(2):
            p = unmixed[node] if side == 0 else 1.0 - unmixed[node]
            whole = mixed[node] if side == 0 else 1.0 - mixed[node]
            explained = reached[node, side] * min(1.0, shares[b] * p / whole)
            stopped[b] += explained
            passed[b] += reached[node, side]
            reached[parents[node], side] += reached[node, side] - explained
    for b in range(len(shares)):
        if passed[b] > 0:
            shares[b] = stopped[b] / passed[b]
