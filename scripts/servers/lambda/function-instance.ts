import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How the process of a function is started. */
export interface FunctionProcess {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The result of one call. */
export type Invocation =
  | { readonly status: "answered"; readonly value: unknown }
  /** The handler threw. */
  | { readonly status: "failed"; readonly error: unknown }
  /** The function did not answer in time, and its process was killed. */
  | { readonly status: "timed out" }
  /** The process died during the call. */
  | { readonly status: "died" };

interface Call {
  readonly id: string;
  readonly event: unknown;
  readonly deadlineMs: number;
  settle(invocation: Invocation): void;
}

let calls = 0;

/**
 * A process of a function, with its own Runtime API (2018-06-01). As on AWS, the process is frozen between two calls, and so is
 * everything that it left running.
 */
export class FunctionInstance {
  readonly #child: ChildProcess;
  /** The response to the process's request for the next event. It is open while the process waits for an event, and otherwise null. */
  #waiting: ServerResponse | null = null;
  #call: Call | null = null;
  #isTaken = false;
  #isDead = false;
  readonly #onIdle: () => void;

  /**
   * Starts the process.
   * @param onIdle called each time the process is ready for a call, and when it has died
   */
  static async start(of: FunctionProcess, onIdle: () => void): Promise<FunctionInstance> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new FunctionInstance(server, of, onIdle);
  }

  private constructor(server: Server, { program, args, env }: FunctionProcess, onIdle: () => void) {
    this.#onIdle = onIdle;
    server.on("request", (request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk;
      });
      request.on("end", () => this.#answer(request.url ?? "", body, response));
    });
    const { port } = server.address() as AddressInfo;
    this.#child = spawn(program, args, {
      env: { PATH: process.env.PATH, ...env, AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}` },
      stdio: ["ignore", "inherit", "inherit"],
    });
    this.#child.on("exit", () => {
      this.#isDead = true;
      server.closeAllConnections();
      server.close();
      this.#settle({ status: "died" });
    });
  }

  /**
   * Reserves the instance for one call, which must follow.
   * @returns false if it is not ready for a call
   */
  take(): boolean {
    if (this.#isTaken || this.#waiting === null) return false;
    this.#isTaken = true;
    return true;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** True while a call is in flight. */
  get isBusy(): boolean {
    return this.#call !== null;
  }

  /** Calls the function with an event, after `take`. If it does not answer in time, its process is killed. */
  invoke(event: unknown, timeoutMs: number): Promise<Invocation> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#settle({ status: "timed out" });
        this.kill();
      }, timeoutMs);
      const settle = (invocation: Invocation): void => {
        clearTimeout(timer);
        resolve(invocation);
      };
      this.#call = { id: `call-${++calls}`, event, deadlineMs: Date.now() + timeoutMs, settle };
      this.#child.kill("SIGCONT");
      this.#handOver();
    });
  }

  /** Kills the process at once, whatever it does. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async close(): Promise<void> {
    if (this.#isDead) return;
    const exit = once(this.#child, "exit");
    this.kill();
    await exit;
  }

  #answer(path: string, body: string, response: ServerResponse): void {
    if (path.endsWith("/invocation/next")) {
      this.#waiting = response;
      // the process stands still until the next call
      this.#child.kill("SIGSTOP");
      this.#onIdle();
      return;
    }
    const [, id, kind] = /\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
    response.writeHead(202).end();
    if (id === this.#call?.id) {
      const value: unknown = JSON.parse(body);
      this.#settle(kind === "response" ? { status: "answered", value } : { status: "failed", error: value });
    }
  }

  #handOver(): void {
    const { id, event, deadlineMs } = this.#call!;
    this.#waiting!.writeHead(200, {
      "content-type": "application/json",
      "lambda-runtime-aws-request-id": id,
      "lambda-runtime-deadline-ms": String(deadlineMs),
      "lambda-runtime-invoked-function-arn": "arn:aws:lambda:us-east-1:000000000000:function:local",
    });
    this.#waiting!.end(JSON.stringify(event));
    this.#waiting = null;
    this.#isTaken = false;
  }

  #settle(invocation: Invocation): void {
    const call = this.#call;
    this.#call = null;
    call?.settle(invocation);
    if (this.#isDead) this.#onIdle();
  }
}
