"""What is known of values, without any edits: types of receivers, dtypes, shapes. Imports `plan.syntax` and below."""
