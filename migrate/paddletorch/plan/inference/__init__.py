"""Questions about values, answered and never edited: receivers, dtypes, shapes. Imports `plan.syntax` and below."""
