import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { pingTimeoutMs, type Service } from "./service.ts";
import { accountOf, findProgram } from "./system.ts";

export const rabbitmq: Service = {
  name: "rabbitmq",
  urlVariable: "STEPFOLD_RABBITMQ_URL",
  portVariable: "STEPFOLD_RABBITMQ_PORT",
  standardPort: 5672,
  url: (port) => `amqp://guest:guest@127.0.0.1:${port}`,

  // The handshake is made by hand, because the client throws an error that cannot be caught if another server answers.
  ping: (url) =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const socket = connect({ host: hostname, port: Number(port), timeout: pingTimeoutMs });
      const fail = (reason: string): void => {
        socket.destroy();
        reject(new RangeError(reason));
      };
      socket.once("connect", () => socket.write(Buffer.from([...Buffer.from("AMQP"), 0, 0, 9, 1])));
      socket.once("error", ({ message }) => fail(message));
      socket.once("timeout", () => fail("no answer"));
      socket.once("close", () => fail("it closed the connection"));
      socket.once("data", (answer) => {
        // a method frame on channel 0 with the method "connection.start"
        if (answer[0] !== 1 || answer.readUInt16BE(1) !== 0 || answer.toString("hex", 7, 11) !== "000a000a")
          return fail("somebody else answers");
        socket.destroy();
        resolve();
      });
    }),

  missing: () => (findProgram("rabbitmq-server", scripts) ? undefined : { debianPackages: ["rabbitmq-server"] }),

  async prepare(folder, port) {
    const user = accountOf("rabbitmq");
    const paths = { data: join(folder, "data"), log: join(folder, "logs"), home: join(folder, "home") };
    for (const path of Object.values(paths)) {
      mkdirSync(path, { recursive: true });
      if (user) chownSync(path, user.uid, user.gid);
    }
    const config = join(folder, "rabbitmq.conf");
    writeFileSync(config, `listeners.tcp.1 = 127.0.0.1:${port}\n`);
    return {
      // not the wrapper in /usr/sbin: if it ends, the server keeps running
      program: join(scripts, "rabbitmq-server"),
      args: [],
      cwd: paths.data,
      ...(user && { user }),
      environment: {
        HOME: paths.home,
        RABBITMQ_NODENAME: `stepfold-${port}@localhost`,
        RABBITMQ_DIST_PORT: String(port + 20_000),
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-kernel inet_dist_use_interface {127,0,0,1}",
        ERL_EPMD_ADDRESS: "127.0.0.1",
        RABBITMQ_CONFIG_FILE: config,
        RABBITMQ_MNESIA_BASE: paths.data,
        RABBITMQ_LOG_BASE: paths.log,
        RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "enabled_plugins"),
      },
      stopSignal: "SIGTERM",
    };
  },
};

/** The folder in which Debian has the programs of the server. */
const scripts = "/usr/lib/rabbitmq/bin";
