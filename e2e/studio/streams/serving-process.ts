// A process that serves executions which another process runs. See streamed-site.ts.
import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createServer, type LiveMessage, liveEvents, tokens } from "@stepfold/server";
import { listen } from "@stepfold/server/node";
import { studio } from "@stepfold/studio";
import type { SnapshotStore } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { storeFromUrl } from "stepfold/stores/from-url";

/** What a serving process gets at its start. */
export interface ServingSetting {
  /** The URL of the store. */
  readonly store: string;
  readonly port: number;
  readonly people: readonly ServedPerson[];
  /** A byte is added to this file for each read of events, so the count outlives the process. */
  readonly readsFile: string;
}

/** Somebody with all scopes. */
export interface ServedPerson {
  readonly name: string;
  readonly token: string;
  /** From when on the token does not count. Default: never. */
  readonly expires?: number;
}

/** What it tells. Its parent sends it the messages of the driving process. */
export type FromServing = { readonly type: "ready" };

const { store: url, port, people, readsFile } = JSON.parse(process.argv[2]!) as ServingSetting;
const opened = await storeFromUrl(url, { migrate: true });
const store: SnapshotStore = {
  ...opened,
  events(...args) {
    appendFileSync(readsFile, ".");
    return opened.events(...args);
  },
};
const runtime = createRuntime({ store, drive: false, pollMs: 100 });
const live = liveEvents();
const auth = tokens(
  people.map(({ name, token, expires }) => ({
    ...{ name, expires, sha256: createHash("sha256").update(token).digest("hex") },
    scopes: ["read", "values", "start", "answer", "operate", "edit", "admin"] as const,
  })),
);
const server = createServer({
  ...{ runtime, store, auth, live, studio: studio(), maxRequestsPerMinute: 6_000 },
  onProblem: (error, requestId) => console.error(requestId, error),
});
process.on("message", (message: LiveMessage) => live.publish(message));
process.once("disconnect", () => process.exit(3));
await listen(server, { port });
process.send?.({ type: "ready" } satisfies FromServing);
