"""Decision trees: growing one, and the way of documents through many.

The entries of all documents stand sorted by column and value, and an entry is known by its place in
that order. A node that is being split has the places of its entries in a frame, column by column,
and for each column the weight of its documents and of the positive ones. Of two children, the one
with more entries keeps the frame, from which the other's weights are taken; the other gets one of
its own. So what a split costs depends on the smaller child, and a chain of splits that takes a few
documents from many each time is cheap. Weights are such that their sums are exact.
"""

import math

import numpy as np

from thresher._kernels._jit import kernel

TIE = 1e-13  # nats; what is not better by more than this is no better: it may be rounding
FRAMES = 64  # each has at most half the entries of the one before
# What is kept of a frame: its entries, columns and documents from where to where, and its node.
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
    """Return the information gain, times the weight, where p and m are parted from the rest."""
    whole = disorder(all_p, all_m)
    return whole - disorder(p, m) - disorder(all_p - p, all_m - m)


@kernel
def least_part(all_p, all_m, bar, low, of_positives):
    """Return a number of positives, or of others, which by themselves gain no more than the bar.

    Gain is convex, so that no split whose smaller side has fewer of both gains more.
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
    """Put the documents of the child with fewer entries last, and return where they begin.

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
    """Take the smaller child's weights from a frame's columns, and give the child its own."""
    kept, given = frame[COLUMN], frame[COLUMN_END]
    child[COLUMN] = given
    for i in range(frame[COLUMN], frame[COLUMN_END]):
        j = columns[i]
        if sum_of[j] > 0:
            columns[given], sums[given], positives[given] = j, sum_of[j], positive_of[j]
            given += 1
        if sums[i] > sum_of[j]:
            columns[kept], starts[kept], ends[kept] = j, starts[i], ends[i]
            sums[kept] = sums[i] - sum_of[j]
            positives[kept] = positives[i] - positive_of[j]
            kept += 1
        sum_of[j] = positive_of[j] = 0.0
    frame[COLUMN_END], child[COLUMN_END] = kept, given


@kernel
def fill_child(f, frame, child, entries, documents, owner, members, row_starts, places,
               columns, starts, ends, column_of):  # fmt: skip
    """Put the smaller child's entries into its frame, in order."""
    first = end = frame[ENTRY_END]
    if 16 * child[LIVE] > frame[ENTRY_END] - frame[ENTRY]:
        for q in range(frame[ENTRY], frame[ENTRY_END]):
            if owner[documents[entries[q]]] == f + 1:
                entries[end] = entries[q]
                end += 1
    else:
        for k in range(child[MEMBER], child[MEMBER_END]):
            for q in range(row_starts[members[k]], row_starts[members[k] + 1]):
                entries[end] = places[q]
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
    """Leave out of a frame the entries of documents that have gone."""
    kept = frame[ENTRY]
    for i in range(frame[COLUMN], frame[COLUMN_END]):
        first, start, end = kept, starts[i], ends[i]
        for q in range(start, end):
            if owner[documents[entries[q]]] == f:
                entries[kept] = entries[q]
                kept += 1
        starts[i], ends[i] = first, kept
    frame[ENTRY_END] = kept


@kernel
def leave(owner, members, start, end):
    """Let documents that have come to a leaf belong to no frame."""
    for k in range(start, end):
        owner[members[k]] = -1


@kernel
def add_members(
    f, members, owner, row_starts, places, column_of, weights, positive, sum_of, positive_of
):
    """Give documents to frame `f`, add up their weights by column, and return the two totals."""
    total = total_p = 0.0
    for d in members:
        owner[d] = f
        w_p = weights[d] if positive[d] else 0.0
        total += weights[d]
        total_p += w_p
        for q in range(row_starts[d], row_starts[d + 1]):
            j = column_of[places[q]]
            sum_of[j] += weights[d]
            positive_of[j] += w_p
    return total, total_p


@kernel
def fill_root(frame, row_starts, places, column_of, weights, positive, owner, members, entries,
              columns, starts, ends, sums, positives, sum_of, positive_of):  # fmt: skip
    """Put all documents that count into the first frame; return their weight and the positives'."""
    n = 0
    frame[LIVE] = 0
    for d in range(len(weights)):
        owner[d] = -1
        if weights[d] > 0:
            members[n] = d
            n += 1
            frame[LIVE] += row_starts[d + 1] - row_starts[d]
    total, total_p = add_members(
        0, members[:n], owner, row_starts, places, column_of, weights, positive, sum_of, positive_of
    )
    n_columns = q = 0
    for place in range(len(places)):
        entries[place] = place
    while q < len(places):
        j, start = column_of[q], q
        while q < len(places) and column_of[q] == j:
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
def grow(row_starts, places, documents, values, column_of, lengths, weights, positive,
         owner, members, spare, is_right, entries, columns, starts, ends, sums, positives,
         sum_of, positive_of, max_depth, min_split, min_leaf, min_gain,
         node_column, node_threshold, node_left, node_right, node_sum, node_positive):  # fmt: skip
    """Grow a tree into the last six arrays, and return how many nodes it has."""
    frames = np.zeros((FRAMES, 9), np.int64)
    node_sum[0], node_positive[0] = fill_root(
        frames[0], row_starts, places, column_of, weights, positive, owner, members, entries,
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
            f + 1, members[middle : frame[MEMBER_END]], owner, row_starts, places, column_of,
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
            fill_child(f, frame, child, entries, documents, owner, members, row_starts, places,
                       columns, starts, ends, column_of)  # fmt: skip
            f += 1
        else:
            leave(owner, members, child[MEMBER], child[MEMBER_END])
    return n_nodes


@kernel
def number_nodes(left, right, order, waiting):
    """Write the nodes in the order in which they are read: a node, all to its left, the rest."""
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
    """Write which leaf of each tree a document comes to; `strengths` is all zero, a row's room."""
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
    """Add to every node what its children have; children stand after it."""
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            sums[node] += sums[left[node]] + sums[right[node]]


@kernel
def interpolate(parents, buckets, own, shares, mixed):
    """Write each node's probability, mixed with its parent's by the share of its bucket."""
    mixed[0] = own[0]
    for node in range(1, len(own)):
        share = shares[buckets[node]]
        mixed[node] = share * own[node] + (1.0 - share) * mixed[parents[node]]


@kernel
def improve_shares(parents, buckets, own, shares, mixed, reached, stopped, passed):
    """Set the shares anew by one step of expectation and maximization.

    `reached` has, for every leaf, the weight of the held-out documents that belong and of those
    that do not; each row of it is passed on to the parent as far as the node does not explain it.
    """
    interpolate(parents, buckets, own, shares, mixed)
    stopped[:], passed[:] = 0.0, 0.0
    for node in range(len(own) - 1, 0, -1):
        b = buckets[node]
        for side in range(2):
            p = own[node] if side == 0 else 1.0 - own[node]
            whole = mixed[node] if side == 0 else 1.0 - mixed[node]
            here = reached[node, side] * min(1.0, shares[b] * p / whole)
            stopped[b] += here
            passed[b] += reached[node, side]
            reached[parents[node], side] += reached[node, side] - here
    for b in range(len(shares)):
        if passed[b] > 0:
            shares[b] = stopped[b] / passed[b]
