"""Attacks on Thresher: hostile files, full disks, kills and threads (`make fuzz`)."""
