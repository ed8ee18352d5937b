# SPDX-License-Identifier: MPL-2.0
"""Apache Kafka with an account for each process. An account may do only what ACLs allow it."""

import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

from support.servers import Kafka

PASSWORD = "a password of the tests"
ACCOUNTS = ["runyard-scheduler", "runyard-worker", "runyard-notifier"]
SETTINGS = """authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:runyard
allow.everyone.if.no.acl.found=false
"""


class KafkaWithAcls(Kafka):
    """The account `runyard` may do everything."""

    def __init__(self, folder):
        super().__init__(folder, password=PASSWORD)
        properties = self.folder / "server.properties"
        more = "".join(f' user_{account}="{PASSWORD}"' for account in ACCOUNTS)
        properties.write_text(properties.read_text().replace(f'user_runyard="{PASSWORD}"', f'user_runyard="{PASSWORD}"{more}') + SETTINGS)
        self.admin = self.folder / "admin.properties"
        login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        self.admin.write_text(f'security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={login} username="runyard" password="{PASSWORD}";\n')

    def options_of(self, account):
        return {"brokers": self.address, "fetch_wait_ms": self.fetch_wait_ms,
                "broker_properties": f"security.protocol=SASL_PLAINTEXT;sasl.mechanism=PLAIN;sasl.username={account};sasl.password={PASSWORD}"}

    def run(self, line):
        """Runs a line that `runyard-scheduler topics` prints."""
        name, *arguments = shlex.split(line)
        program = {"kafka-acls.sh": "org.apache.kafka.tools.AclCommand", "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand"}[name]
        java, *command = self.java(program, *arguments, "--command-config", self.admin)
        done = subprocess.run([java, self._classes(), *command], capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"

    def _classes(self):
        """The first program stores its loaded classes, and the others read them: most of a program's time is its start."""
        archive = self.folder / "classes.jsa"
        return f"-XX:SharedArchiveFile={archive}" if archive.exists() else f"-XX:ArchiveClassesAtExit={archive}"

    def run_all(self, lines):
        first, *others = lines
        self.run(first)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(self.run, others))

    def forbid_all(self, lines):
        self.run_all([line.replace(" --add ", " --remove --force ") for line in lines])
