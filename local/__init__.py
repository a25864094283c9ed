"""What AWS does for Plaza, on one machine: gateway, queues, schedules, and a database."""
