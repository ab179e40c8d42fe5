import { createHash } from "node:crypto";
import { join } from "node:path";
import { createServer, liveEvents, type Server, tokens } from "@stepfold/server";
import { type Listening, listen } from "@stepfold/server/node";
import { studio } from "@stepfold/studio";
import { type SnapshotStore, systemEnvironment } from "stepfold";
import type { ApiScope } from "stepfold/client";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime, type Runtime, type RuntimeOptions } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";

/** All scopes. */
const everyScope: readonly ApiScope[] = ["read", "values", "start", "answer", "operate", "edit", "admin"];

/** Who may do what on a site. */
interface SitePerson {
  readonly name: string;
  /** Default: all. */
  readonly scopes?: readonly ApiScope[];
}

/** What runs on a site. */
export interface SiteOptions
  extends Pick<RuntimeOptions, "nodeDefinitions" | "owner" | "environment" | "concurrency" | "drive" | "beatMs"> {
  /** The folder of the SQLite file. */
  readonly folder: string;
  readonly workflows: readonly unknown[];
  readonly people?: readonly SitePerson[];
}

/** A runtime on a SQLite file, with the API and Studio over it. */
export interface Site {
  readonly store: SnapshotStore;
  readonly runtime: Runtime;
  /** Such as `http://127.0.0.1:40123`. It stays the same when the site is served again. */
  readonly url: string;
  /** The address of a page, with the token of somebody. Default: the list, for the first person. */
  link(path?: string, name?: string): string;
  /** Ends the server and its connections; the executions go on. */
  stopServing(): Promise<void>;
  /** Serves again at the same address. */
  serveAgain(): Promise<void>;
  close(): Promise<void>;
}

/** The token of a person of a site. */
export function tokenOf(name: string): string {
  return `site-token-${createHash("sha256").update(name).digest("hex")}`;
}

/** Serves a runtime with Studio on a free port of this machine, with everything real. */
export async function serveSite({
  folder,
  workflows,
  people = [{ name: "ada" }],
  nodeDefinitions,
  environment,
  owner,
  concurrency,
  drive,
  beatMs,
}: SiteOptions): Promise<Site> {
  const store = sqliteStore(join(folder, "site.db"), environment && { now: environment.now });
  const live = liveEvents();
  const nodes = { ...builtinNodes, ...nodeDefinitions };
  const clocked = {
    ...(environment && { environment }),
    ...(owner !== undefined && { owner }),
    ...(concurrency !== undefined && { concurrency }),
    ...(drive !== undefined && { drive }),
    ...(beatMs !== undefined && { beatMs }),
  };
  const runtime = createRuntime({ store, workflows, nodeDefinitions: nodes, plugins: [live.plugin], pollMs: 50, ...clocked });
  const sha256 = (name: string): string => createHash("sha256").update(tokenOf(name)).digest("hex");
  const auth = tokens(people.map(({ name, scopes = everyScope }) => ({ sha256: sha256(name), name, scopes })));
  const pages = studio();
  // a clock that stands still is everybody's, but what the server waits for comes
  const served = environment ? { ...systemEnvironment, now: environment.now, monotonicMs: environment.monotonicMs } : systemEnvironment;
  const newServer = (): Server =>
    createServer({ runtime, store, auth, live, studio: pages, environment: served, maxRequestsPerMinute: 100_000 });
  let listening: Listening = await listen(newServer(), { port: 0 });
  const { url, port } = listening;
  return {
    ...{ store, runtime, url },
    link: (path = "/", name = people[0]!.name) => `${url}${path}#t=${tokenOf(name)}`,
    stopServing: () => listening.close(),
    async serveAgain() {
      listening = await listen(newServer(), { port });
    },
    async close() {
      await listening.close();
      await runtime.close({ timeoutMs: 0 });
      await store.close();
    },
  };
}
