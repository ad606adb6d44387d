"""Chat models: how they are reached, what their answers are worth, what they may cost."""
