"""Saving a text: by a chat model or by rule, to a note, a page of its day, or an entity's."""
