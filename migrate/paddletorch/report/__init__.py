"""What a run says: a summary, as text for people, as JSON for programs, and as a diff."""
