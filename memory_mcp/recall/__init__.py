"""What is shown unasked: query building, gate, triggers, seeds, index section, block."""
