# SPDX-License-Identifier: MPL-2.0
"""Statements of a test in Runyard's database."""

import select
from collections import deque

import psycopg


class Database:
    """Runs each statement in a separate transaction. Keeps connections, because tests poll and PostgreSQL starts a process
    for each. A statement of another thread causes no delay."""

    def __init__(self, url):
        self.url = url
        self.idle = deque()

    def _connection(self):
        while self.idle:
            connection = self.idle.pop()
            # An idle connection is readable only if the server has ended it.
            if not select.select([connection], [], [], 0)[0]:
                return connection
            connection.close()
        # A migration would make prepared statements fail.
        return psycopg.connect(self.url, autocommit=True, prepare_threshold=None)

    def ask(self, query, *values):
        """The rows that the query returns, or None."""
        connection = self._connection()
        try:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else None
        finally:
            if not connection.closed:
                self.idle.append(connection)

    def close(self):
        while self.idle:
            self.idle.pop().close()
