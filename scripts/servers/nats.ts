import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { pingTimeoutMs, type Service } from "./service.ts";
import { findProgram } from "./system.ts";

export const nats: Service = {
  name: "nats",
  urlVariable: "STEPFOLD_NATS_URL",
  portVariable: "STEPFOLD_NATS_PORT",
  standardPort: 4222,
  url: (port) => `nats://127.0.0.1:${port}`,

  async ping(url) {
    const connection = await connect({ servers: url, timeout: pingTimeoutMs, reconnect: false });
    try {
      // this call fails if JetStream is off
      await jetstreamManager(connection, { timeout: pingTimeoutMs });
    } finally {
      await connection.close();
    }
  },

  missing: () => (findProgram("nats-server") ? undefined : { debianPackages: ["nats-server"] }),

  async prepare(folder, port) {
    const data = join(folder, "data");
    mkdirSync(data, { recursive: true });
    return {
      program: findProgram("nats-server")!,
      args: ["--addr", "127.0.0.1", "--port", String(port), "--jetstream", "--store_dir", data],
      stopSignal: "SIGTERM",
    };
  },
};
