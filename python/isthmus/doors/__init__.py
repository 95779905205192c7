"""Where this command listens, and how strangers are kept from shutting its doors."""
