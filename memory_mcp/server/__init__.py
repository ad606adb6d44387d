"""What a model calls: tools, resources and prompts over MCP."""
