import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { type WaitInfo, waitsOf } from "../../core/explain/waits.ts";
import { addressOf, openScopes } from "../../core/snapshot/address.ts";
import { isStatus, isTerminal, type Snapshot, type Status, statuses } from "../../core/snapshot/snapshot.ts";
import { type FoundPath, readTarget, select, type Wanted } from "../../core/snapshot/target.ts";
import { refuseUnknown } from "../../core/values/check-arguments.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import type { OpenSessions } from "../local/open-sessions.ts";
import { type WaitOptions, withEnd } from "./end-of-wait.ts";
import { type Run, targetOf, type WaitQuery } from "./run.ts";
import { waitUntil } from "./wait-until.ts";

/** Makes `run.waitFor` of an execution. */
export function waitingFor(context: RuntimeContext, sessions: OpenSessions, workflowId: string): Run["waitFor"] {
  const waitFor = <T>(
    options: WaitOptions,
    awaited: string,
    matters: (status: Status) => boolean,
    find: (snapshot: Snapshot) => T | null,
  ): Promise<T> => {
    const findUnlessEnded = (snapshot: Snapshot): T | null => {
      const found = find(snapshot);
      const { status } = snapshot;
      if (found === null && isTerminal(status)) throw new StepfoldError("EXECUTION_ENDED", { workflowId, status });
      return found;
    };
    return withEnd(context, options, { workflowId, awaited, method: "run.waitFor" }, (end) =>
      waitUntil(context, sessions, workflowId, matters, findUnlessEnded, end),
    );
  };
  async function waitingForOne(what: Status | readonly Status[], options?: WaitOptions): Promise<Snapshot>;
  async function waitingForOne(what: WaitQuery, options?: WaitOptions): Promise<WaitInfo>;
  async function waitingForOne(what: Status | readonly Status[] | WaitQuery, options: WaitOptions = {}): Promise<Snapshot | WaitInfo> {
    const wanted = statusesIn(what);
    if (wanted) {
      const matters = (status: Status): boolean => isTerminal(status) || wanted.includes(status);
      const awaited = `become ${wanted.join(" or ")}`;
      return waitFor(options, awaited, matters, (snapshot) => (wanted.includes(snapshot.status) ? snapshot : null));
    }
    const query = checkedQuery(what as WaitQuery);
    return waitFor(
      options,
      "open a wait that matches the query",
      () => true,
      (snapshot) => openWait(snapshot, query),
    );
  }
  return waitingForOne;
}

/** Returns the statuses that are waited for; null if `what` is a query for a wait. @throws StepfoldError `OPTION_INVALID` */
function statusesIn(what: unknown): readonly Status[] | null {
  const named: readonly unknown[] | null = typeof what === "string" ? [what] : Array.isArray(what) ? what : null;
  if (!named && typeof what === "object" && what !== null) return null;
  if (named && named.length > 0 && named.every(isStatus)) return named;
  const reason = `must be a query such as { step: "approve" }, or one or more of the statuses ${statuses.join(", ")}`;
  throw new StepfoldError("OPTION_INVALID", { option: "waitFor", reason });
}

interface CheckedQuery {
  readonly wanted: Wanted;
  readonly signal: string | undefined;
}

/** @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN` */
function checkedQuery(query: WaitQuery): CheckedQuery {
  refuseUnknown("run.waitFor", query, ["step", "item", "waitId", "pathId", "signal"]);
  return { wanted: readTarget(targetOf(query)), signal: query.signal };
}

/** Returns the first wait of a query that somebody can answer. If there is none: the first wait of the query, unless the query is empty. */
function openWait(snapshot: Snapshot, { wanted, signal }: CheckedQuery): WaitInfo | null {
  const { waitId } = wanted;
  const isAny = Object.keys(wanted).length === 0 && signal === undefined;
  const all: FoundPath[] = [];
  for (const [scope, paths] of openScopes(snapshot)) for (const path of paths) if (path.waits) all.push({ scope, path });
  const meant = waitId === undefined ? select(snapshot, wanted, all) : all;
  const waits = meant
    .flatMap(({ scope, path }) => waitsOf(path, addressOf(snapshot, scope, path.nodeId), snapshot.schemas))
    .filter((wait) => (waitId === undefined || wait.id === waitId) && (signal === undefined || wait.signal === signal));
  return waits.find(({ answer }) => answer !== null) ?? (isAny ? null : (waits[0] ?? null));
}
