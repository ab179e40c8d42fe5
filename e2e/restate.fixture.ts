import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished, type TestContext } from "vitest";
import { findRestate } from "../scripts/servers/restate.ts";
import { tellNotTested } from "../scripts/servers/service-url.ts";
import { effort } from "../scripts/test/effort.ts";
import { root } from "./cli.ts";

/** The status and output of an execution that has ended. */
interface End {
  readonly status: string;
  readonly output?: unknown;
}

interface WorldOptions {
  readonly ingress: string;
  readonly admin: string;
  readonly service: string;
  /** How long a request is repeated until it gets an answer, in milliseconds. */
  readonly patienceMs: number;
}

/** A process that can be killed and started again. */
class Process {
  readonly #start: () => ChildProcess;
  #child: ChildProcess | null = null;

  constructor(start: () => ChildProcess) {
    this.#start = start;
  }

  start(): void {
    this.#child = this.#start();
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
  }
}

/** A Restate server, a service that runs executions, and the outside world, whose effects neither of them can undo. */
export class RestateWorld {
  readonly server: Process;
  readonly service: Process;
  /** How often each effect was requested, by idempotency key. The world performs each key once. */
  readonly asked = new Map<string, number>();
  /** How often each effect happened, by execution and node; repeated keys do not count. */
  readonly effects = new Map<string, number>();
  readonly #ingress: string;
  readonly #admin: string;
  readonly #serviceUrl: string;
  readonly #patienceMs: number;

  constructor(server: Process, service: Process, options: WorldOptions) {
    this.server = server;
    this.service = service;
    this.#ingress = options.ingress;
    this.#admin = options.admin;
    this.#serviceUrl = options.service;
    this.#patienceMs = options.patienceMs;
  }

  /** Registers the service at the Restate server. */
  async register(): Promise<void> {
    await this.#until(`${this.#admin}/deployments`, { uri: this.#serviceUrl });
  }

  async start(workflowId: string, start: object): Promise<void> {
    await this.#until(`${this.#ingress}/stepfold/${workflowId}/run/send`, start);
  }

  async send(workflowId: string, command: object): Promise<void> {
    await this.#until(`${this.#ingress}/stepfold/${workflowId}/send`, command, {
      "idempotency-key": `${workflowId} ${JSON.stringify(command)}`,
    });
  }

  /** Resolves when an execution waits at a node. */
  async waitsAt(workflowId: string, node: string): Promise<void> {
    const url = `${this.#ingress}/stepfold/${workflowId}/waits`;
    while (!((await this.#until(url, {})) as readonly string[] | null)?.includes(node)) await sleep(50);
  }

  /** Resolves with the end of an execution, even if the server is restarted meanwhile. */
  async end(workflowId: string): Promise<End> {
    return (await this.#until(`${this.#ingress}/restate/workflow/stepfold/${workflowId}/attach`, undefined)) as End;
  }

  /** Repeats a request until it is answered, because the server may be down. So the server may get a request twice. */
  async #until(url: string, body: object | undefined, headers: Record<string, string> = {}): Promise<unknown> {
    const deadline = performance.now() + this.#patienceMs;
    for (;;) {
      const request =
        body === undefined
          ? { signal: AbortSignal.timeout(5_000) }
          : {
              method: "POST",
              headers: { "content-type": "application/json", ...headers },
              body: JSON.stringify(body),
              signal: AbortSignal.timeout(5_000),
            };
      const answer = await fetch(url, request).catch((error: unknown) => String(error));
      if (typeof answer !== "string" && answer.ok) {
        const text = await answer.text().catch(() => null);
        if (text !== null) return text === "" ? undefined : JSON.parse(text);
      }
      if (performance.now() > deadline) throw new RangeError(`${url} gave ${typeof answer === "string" ? answer : await answer.text()}`);
      await sleep(100);
    }
  }
}

/** Starts a Restate server, a service and the outside world; skips the test if the Restate server is not installed. */
export async function restateWorld(skip: TestContext["skip"], patienceMs = 30_000): Promise<RestateWorld> {
  const program = effort.servers ? findRestate() : undefined;
  if (program === undefined) {
    tellNotTested("NOT TESTED against Restate: run scripts/services up");
    return skip();
  }
  const folder = mkdtempSync(join(tmpdir(), "stepfold-restate-"));
  const [ingress, admin, node, service] = await freePorts(4);
  const world = createServer();
  await new Promise<void>((resolve) => world.listen(0, "127.0.0.1", resolve));
  const server = new Process(() =>
    spawn(program, ["--base-dir", folder, "--node-name", "n1", "--bind-ip", "127.0.0.1", "--listen-mode", "tcp", "--no-logo"], {
      env: {
        ...process.env,
        RESTATE_DISABLE_TELEMETRY: "true",
        RUST_LOG: "error",
        RESTATE_INGRESS__BIND_PORT: String(ingress),
        RESTATE_ADMIN__BIND_PORT: String(admin),
        RESTATE_BIND_PORT: String(node),
        RESTATE_DEFAULT_NUM_PARTITIONS: "1",
        RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: "128 MiB",
      },
      stdio: "ignore",
    }),
  );
  const handler = new Process(() =>
    spawn(process.execPath, [join(root, "e2e/restate-service.ts")], {
      env: {
        ...process.env,
        PORT: String(service),
        EFFECTS_URL: `http://127.0.0.1:${(world.address() as AddressInfo).port}`,
        RESTATE_LOGGING: "ERROR",
      },
      stdio: "ignore",
    }),
  );
  const url = (port: number | undefined): string => `http://127.0.0.1:${port}`;
  const made = new RestateWorld(server, handler, { ingress: url(ingress), admin: url(admin), service: url(service), patienceMs });
  honourKeys(world, made);
  onTestFinished(async () => {
    await Promise.all([server.kill(), handler.kill()]);
    world.close();
    world.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });
  server.start();
  handler.start();
  await made.register();
  return made;
}

/** Answers each request, and performs its effect once per idempotency key. */
function honourKeys(server: Server, { asked, effects }: RestateWorld): void {
  server.on("request", (request, response) => {
    const key = String(request.headers["idempotency-key"]);
    const node = String(request.headers["x-node"]);
    const times = asked.get(key) ?? 0;
    asked.set(key, times + 1);
    if (times === 0) effects.set(node, (effects.get(node) ?? 0) + 1);
    // the answer is late enough for a kill to come between effect and answer
    setTimeout(() => response.end(JSON.stringify({ done: true })), 50);
  });
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createSocketServer());
  const ports = await Promise.all(
    servers.map(
      (server) => new Promise<number>((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
