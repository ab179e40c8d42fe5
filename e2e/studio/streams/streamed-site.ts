import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { LiveMessage } from "@stepfold/server";
import type { SnapshotStore } from "stepfold";
import { type Client, createClient } from "stepfold/client";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { siteFromUrl } from "stepfold/stores/from-url";
import { serviceUrl } from "../../../scripts/servers/service-url.ts";
import type { DrivingSetting, FromDriving } from "./driving-process.ts";
import type { FromServing, ServedPerson, ServingSetting } from "./serving-process.ts";
import { type Orders, tickingWorkflows } from "./ticking-workflows.ts";

/** How a site is made. */
export interface SiteOptions {
  readonly kind: "sqlite" | "postgres";
  /** A folder for files. */
  readonly folder: string;
  /** Whether the driving process tells the serving one what happens. */
  readonly isTold?: boolean;
  readonly people?: readonly ServedPerson[];
  /** Returns the URL that the serving process gets for that of the store: through a proxy, with other parameters. */
  readonly servedFrom?: (url: string) => string | Promise<string>;
}

/** A store, a process that runs its executions, and another one that serves them. This process moves executions by a runtime of its own. */
export interface StreamedSite {
  readonly store: SnapshotStore;
  readonly runtime: Runtime;
  readonly serving: Serving;
  readonly driving: Driving;
  /** A client of somebody; default: of the first of the people. */
  client(person?: ServedPerson, url?: string): Client;
  readonly people: readonly ServedPerson[];
  /** Ends the processes, and deletes the store. */
  close(): Promise<void>;
}

/** Returns somebody with a new token. */
export function newPerson(name: string, expires?: number): ServedPerson {
  return { name, token: randomBytes(24).toString("base64url"), ...(expires !== undefined && { expires }) };
}

/** Opens a site; null if the database does not answer. Its processes are not started yet. */
export async function openSite(options: SiteOptions): Promise<StreamedSite | null> {
  const { kind, folder, isTold = false, people = [newPerson("ada")], servedFrom = (url) => url } = options;
  const url = await storeUrl(kind, folder);
  if (url === null) return null;
  const site = await siteFromUrl(url);
  const store = await site.open(site.space, { migrate: true });
  await store.list({ limit: 1 });
  const runtime = createRuntime({ store, workflows: tickingWorkflows, drive: false, pollMs: 50 });
  const setting = { store: await servedFrom(url), port: await freePort(), people, readsFile: join(folder, "reads") };
  const serving = new Serving(setting);
  const driving = new Driving(url, (message) => isTold && serving.tell(message));
  return {
    ...{ store, runtime, serving, driving, people },
    client: ({ token } = people[0]!, at = serving.url) => createClient({ url: at, token }),
    async close() {
      await Promise.all([serving.kill(), driving.kill()]);
      await runtime.close();
      await store.close();
      await site.drop(site.space);
      await site.close();
    },
  };
}

async function storeUrl(kind: SiteOptions["kind"], folder: string): Promise<string | null> {
  if (kind === "sqlite") return `sqlite:${join(folder, "streamed.db")}`;
  const server = await serviceUrl("postgres");
  if (server === null) return null;
  const url = new URL(server);
  url.searchParams.set("schema", `studio_${randomBytes(6).toString("hex")}`);
  url.searchParams.set("pool", "5");
  return url.href;
}

/** Returns a free port that no outgoing connection gets: clients that look for a killed server would meet themselves there. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (isFree) await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}

/** The serving process, again on the same port whenever it was killed. */
class Serving {
  readonly url: string;
  readonly #setting: ServingSetting;
  #child: ChildProcess | null = null;

  constructor(setting: ServingSetting) {
    this.#setting = setting;
    this.url = `http://127.0.0.1:${setting.port}`;
  }

  /** How often all of them together have read events. */
  get reads(): number {
    const { readsFile } = this.#setting;
    return existsSync(readsFile) ? statSync(readsFile).size : 0;
  }

  /** Resolves once it answers. */
  async start(): Promise<void> {
    this.#child = await startChild<FromServing>("serving-process.ts", this.#setting, () => undefined);
  }

  /** Passes on what the driving process tells. It is lost while there is no process. */
  tell(message: LiveMessage): void {
    if (this.#child?.connected) this.#child.send(message, () => undefined);
  }

  /** Kills it (SIGKILL). */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child) await killed(child);
  }
}

/** The driving process. */
class Driving {
  readonly #store: string;
  readonly #take: (message: LiveMessage) => void;
  readonly #orders: Orders = { isFinishing: false, isMended: false };
  #child: ChildProcess | null = null;

  constructor(store: string, take: (message: LiveMessage) => void) {
    this.#store = store;
    this.#take = take;
  }

  /** Resolves once it runs what is due. */
  async start(): Promise<void> {
    const setting: DrivingSetting = { store: this.#store, orders: this.#orders };
    this.#child = await startChild<FromDriving>("driving-process.ts", setting, (told) => {
      if (told.type === "live") this.#take(told.message);
    });
  }

  /** Gives an order to it, and to those that come after it. */
  order(orders: Partial<Orders>): void {
    Object.assign(this.#orders, orders);
    this.#child?.send(orders);
  }

  /** Kills it (SIGKILL). */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child) await killed(child);
  }
}

/** Starts a script of this folder. Resolves once it has said that it is ready. */
async function startChild<Told extends { readonly type: string }>(
  script: string,
  setting: object,
  take: (told: Told) => void,
): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, script), [JSON.stringify(setting)], {
    ...{ execArgv: ["--disable-warning=ExperimentalWarning"], serialization: "advanced", stdio: ["ignore", "ignore", "pipe", "ipc"] },
  });
  let errors = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  await new Promise<void>((resolve, reject) => {
    child.on("message", (told: Told) => (told.type === "ready" ? resolve() : take(told)));
    child.once("exit", () => reject(new Error(`${script} has ended: ${errors}`)));
  });
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
