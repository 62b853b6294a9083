"""Tables: data frames with categories, dates, texts and missing values, encoded as numbers."""
