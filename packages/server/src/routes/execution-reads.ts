import { type Event, StepfoldError, type WaitInfo } from "stepfold";
import type { HistoryPage, StepView, WaitPage } from "stepfold/client";
import { type CompiledWorkflow, Replay, stepInput, waits } from "stepfold/core";
import type { EventPage, Run } from "stepfold/runtime";
import { RefusedRequest } from "../guard/problem.ts";
import { oneOf, text, wholeNumber } from "../requests/query-key.ts";
import type { Site } from "../site.ts";
import { briefEvent } from "../views/brief-event.ts";
import { sizeOf } from "../views/cut-value.ts";
import { executionView, seenWait } from "../views/execution-view.ts";
import { type Call, json, type Route, route } from "./route.ts";

const maxVersion = Number.MAX_SAFE_INTEGER;
/** A larger snapshot is not sent in one answer, and pages end before they are larger. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** The routes that read one execution. */
export const executionReadRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/executions/:id",
    scope: "read",
    summary: "Tells how an execution stands: its state, why in words, and its first 100 waits.",
    answers: { 200: "The state.", 304: "It is as it was (`if-none-match`)." },
    async run({ id, runtime, site, sees, request }) {
      const run = await runtime.get(id);
      const [snapshot, [summary], storeNow] = await Promise.all([run.snapshot(), runtime.summaries([run.workflowId]), site.now()]);
      const lease = summary?.lease ?? null;
      const noWorker = await site.workers.whyNone(lease, storeNow, () => snapshot);
      const seen = `${sees.values ? 1 : 0}${sees.payloads ? 1 : 0}`;
      // whether a worker can run it changes without a new version
      const parts = [snapshot.incarnation, snapshot.version, lease?.until ?? 0, seen, encodeURIComponent((noWorker ?? "").toWellFormed())];
      const etag = `"${parts.join(".")}"`;
      if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers: { etag } });
      const workflow = await site.workflows.get(snapshot.definition.hash);
      return json(executionView({ snapshot, workflow, lease, noWorker, storeNow }, sees), 200, { etag });
    },
  }),
  route<{ after: number; before: number; limit: number; view: "brief" | "full"; node: string; type: string }, unknown>({
    method: "GET",
    path: "/v1/executions/:id/events",
    scope: "read",
    summary: "Reads a page of the history.",
    answers: { 200: "Events, the oldest first. With their values only with the scope `values`." },
    query: {
      after: wholeNumber("The events after this version; -1 is before the first one.", -1, maxVersion),
      before: wholeNumber("Instead of `after`: the last events before this version.", 0, maxVersion),
      limit: wholeNumber("The most events; default 100.", 1, 1_000),
      view: oneOf("`full`: with all values. Default: as much as the caller may see.", ["brief", "full"]),
      node: text("Only events at this node.", 200),
      type: text("Only events of this type.", 50),
    },
    async run({ id, runtime, site, query, sees }) {
      const { node, type, view = sees.values ? "full" : "brief", ...asked } = query;
      if (view === "full" && !sees.values)
        throw new RefusedRequest("FORBIDDEN", "Values of events need the scope `values`.", {}, { scope: "values" });
      const run = await runtime.get(id);
      const read = await run.events(asked);
      const shown = view === "full" ? read.items : read.items.map(briefEvent);
      const { items, next } = shortened({ items: shown, next: read.next }, asked.before !== undefined);
      const head = await site.store.loadHead(run.workflowId);
      const found = items.filter((event) => (node === undefined || nodeOf(event) === node) && (type === undefined || event.type === type));
      return json({ items: found, next, last: head?.version ?? items.at(-1)?.version ?? -1 } satisfies HistoryPage);
    },
  }),
  route<{ version: number }, unknown>({
    method: "GET",
    path: "/v1/executions/:id/snapshot",
    scope: "values",
    summary: "Returns the snapshot: everything that is known of an execution, at present or at a version of the past.",
    answers: { 200: "The snapshot." },
    query: { version: wholeNumber("A version of the past. Default: the present.", 0, maxVersion) },
    async run({ id, runtime, site, query: { version } }) {
      const run = await runtime.get(id);
      const present = await run.snapshot();
      if (present.sizeBytes > maxAnswerBytes)
        throw new StepfoldError("LIMIT_EXCEEDED", {
          ...{ what: "The snapshot", limit: "bytes of one answer", actual: present.sizeBytes, max: maxAnswerBytes },
        });
      if (version === undefined || version === present.version) return json(present);
      const { replay } = await replayTo(run, site, version);
      return json(replay.snapshot());
    },
  }),
  route({
    method: "GET",
    path: "/v1/executions/:id/steps/:part",
    scope: "values",
    summary: "Returns one event of a step, with what the step has read. Globals are shown as `***`.",
    answers: { 200: "The event and the input." },
    run: stepView,
  }),
  route<{ address: string; after: string; limit: number }, unknown>({
    method: "GET",
    path: "/v1/executions/:id/waits",
    scope: "read",
    summary: "Lists everything that an execution waits for.",
    answers: { 200: "A page. Payloads only with the scope `answer` or `values`." },
    query: {
      address: text("Only waits at this place, or in it: `map[3]/approve`, `map`."),
      after: text("`next` of the page before."),
      limit: wholeNumber("The most waits; default 100.", 1, 1_000),
    },
    async run({ id, runtime, query: { address, after, limit = 100 }, sees }) {
      const run = await runtime.get(id);
      const all = waits(await run.snapshot()).filter((wait) => address === undefined || isAt(wait, address));
      // in the order of their ids, because the wait at which the last page ended may have been answered meanwhile
      const rest = all.filter(({ id: waitId }) => after === undefined || compareIds(waitId, after) > 0);
      rest.sort((a, b) => compareIds(a.id, b.id));
      const items = fitting(rest.slice(0, limit).map((wait) => seenWait(wait, sees)));
      const next = items.length < rest.length ? items.at(-1)!.id : null;
      return json({ items, next, count: all.length } satisfies WaitPage);
    },
  }),
  route<{ hash: string }, unknown>({
    method: "GET",
    path: "/v1/executions/:id/definition",
    scope: "read",
    summary: "Returns the definition that an execution follows.",
    answers: { 200: "The definition." },
    query: { hash: text("That of an earlier run or restart. Default: the present one.", 200) },
    async run({ id, runtime, site, query }) {
      const run = await runtime.get(id);
      const head = await site.store.loadHead(run.workflowId);
      const hash = query.hash ?? head?.definition.hash ?? "";
      const isOwn = hash === head?.definition.hash || (await hasFollowed(run, hash));
      if (!isOwn) throw new RefusedRequest("NOT_FOUND", "The execution has never followed a definition with this hash.");
      const definition = await site.store.getDefinition(hash);
      if (!definition) throw new StepfoldError("DEFINITION_MISSING", { workflowId: run.workflowId, hash });
      return json(definition, 200, { etag: `"${hash}"` });
    },
  }),
];

/** Ends a page of events before it is too large: at its end, or, if it is read backwards, at its beginning. */
function shortened({ items, next }: EventPage, isBackwards: boolean): EventPage {
  const kept = isBackwards ? fitting([...items].reverse()).reverse() : fitting(items);
  if (kept.length === items.length) return { items, next };
  return { items: kept, next: (isBackwards ? kept[0] : kept.at(-1))!.version };
}

/** Returns as many of the first items as fit into an answer, at least one. */
function fitting<T>(items: readonly T[]): T[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += sizeOf(item);
    return bytes > maxAnswerBytes;
  });
  return items.slice(0, end < 0 ? items.length : Math.max(1, end));
}

async function stepView({ id, part, runtime, site }: Call): Promise<Response> {
  const version = /^\d{1,15}$/.test(part) ? Number(part) : -1;
  const run = await runtime.get(id);
  const [event] = version < 0 ? [] : (await run.events({ after: version - 1, limit: 1 })).items;
  if (event?.version !== version) throw new RefusedRequest("NOT_FOUND", "The execution has no event with this version.");
  if (!("pathId" in event) || version === 0) return json({ event, input: null } satisfies StepView);
  const { replay, workflow } = await replayTo(run, site, version - 1);
  const before = replay.snapshot();
  const pathId = event.scope ? `${event.scope}>${event.pathId}` : event.pathId;
  return json({ event, input: before && stepInput(workflow, before, { pathId }) } satisfies StepView);
}

/** Folds the history of an execution up to a version. @throws RefusedRequest `NOT_FOUND` */
async function replayTo(run: Run, site: Site, version: number): Promise<{ readonly replay: Replay; readonly workflow: CompiledWorkflow }> {
  const loaded = new Map<string, CompiledWorkflow>();
  const load = async (hash: string): Promise<CompiledWorkflow> => {
    const workflow = loaded.get(hash) ?? (await site.workflows.get(hash));
    if (!workflow) throw new RefusedRequest("NOT_FOUND", "The definition that the execution followed is not in the store any more.");
    loaded.set(hash, workflow);
    return workflow;
  };
  let replay: Replay | null = null;
  let present: CompiledWorkflow | null = null;
  for (let after = -1; after < version; ) {
    const { items } = await run.events({ after, limit: 1_000 });
    for (const event of items) {
      if (event.version > version) break;
      if ("definition" in event) present = await load(event.definition.hash);
      replay ??= new Replay(present!, null, (hash) => loaded.get(hash) ?? present!);
      replay.add(event);
    }
    if (items.length === 0 || items.at(-1)!.version >= version) break;
    after = items.at(-1)!.version;
  }
  if (!replay || replay.version !== version)
    throw new RefusedRequest("NOT_FOUND", "The execution has no such version, or its events were trimmed.");
  return { replay, workflow: present! };
}

/** Whether an execution has ever followed a definition. */
async function hasFollowed(run: Run, hash: string): Promise<boolean> {
  for (let after: number | null = -1; after !== null; ) {
    const { items, next } = await run.events({ after, limit: 1_000 });
    if (items.some((event) => "definition" in event && event.definition.hash === hash)) return true;
    after = next;
  }
  return false;
}

function nodeOf(event: Event): string | undefined {
  return "nodeId" in event ? event.nodeId : undefined;
}

const inOrder = new Intl.Collator("en", { numeric: true });

/** Compares the ids of two waits: item 10 comes after item 9. */
function compareIds(a: string, b: string): number {
  return inOrder.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}

function isAt(wait: WaitInfo, address: string): boolean {
  return wait.address === address || wait.address.startsWith(`${address}/`) || wait.address.startsWith(`${address}[`);
}
