"""Plaza's AWS services on one machine: gateway, queues, schedules, and a database."""
