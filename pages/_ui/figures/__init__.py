"""Arrays become figures: functions that return a `go.Figure` and know nothing of Streamlit."""
