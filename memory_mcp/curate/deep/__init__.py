"""Deep: what the inbox knows becomes pages of the wiki, and nothing is lost."""
