"""What learns: from strengths and labels to one score per category."""
