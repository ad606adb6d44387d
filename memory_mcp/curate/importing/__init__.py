"""Taking over what another memory holds: read, told apart from what is there, made a plan."""
