import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { ExecutionView } from "stepfold/client";
import type { Explanation, Status, WaitInfo } from "stepfold/core";
import { useSearchParams } from "../../app/use-location.ts";
import type { FormDrafts } from "../../form/form-drafts.ts";
import type { TypeHandles } from "../../graph/card/ports.ts";
import { type Graph, graphOf } from "../../graph/graph.ts";
import { stepsOfCode } from "../../graph/steps-of-code.ts";
import { type Holding, holdingOf } from "../../model/holding.ts";
import type { ExecutionState } from "../../model/replay/execution-state.ts";
import { cutBytes } from "../../model/value/json-tree.ts";
import { ticker } from "../../ui/text/now.tsx";
import type { ShownExecution } from "./execution-context.ts";
import type { FollowedExecution } from "./use-execution.ts";

/** What is shown, and the graph of the definition that the execution follows at this version. */
export interface Shown extends ShownExecution {
  readonly status: Status;
  /** Null: the definition is not there yet; `gone`: it cannot be had. */
  readonly graph: Graph | "gone" | null;
}

/** Returns what the page shows: the present, or the version of the past that the address names (`?v=17`). */
export function useShownExecution({ model, revision }: FollowedExecution, drafts: FormDrafts, typeHandles: TypeHandles): Shown {
  const wanted = versionOf(useSearchParams().get("v"));
  useEffect(() => model.look(wanted), [model, wanted]);
  const { head, lookedAt } = model;
  const isPast = lookedAt !== null;
  const state = model.shown;
  const told = isPast ? (state?.folded ?? null) : presentOf(head, model.state);
  const hash = state?.hash ?? head?.definition.hash ?? null;
  const graph = useGraph(model, hash, revision, typeHandles);
  const names = typeof graph === "object" ? graph?.nodes : undefined;
  return {
    model,
    revision,
    version: lookedAt ?? model.last,
    isPast,
    state,
    explanation: told?.explanation ?? null,
    status: told?.status ?? head?.status ?? "active",
    waits: isPast ? waitsOf(told?.explanation ?? null) : presentWaits(head, model.state),
    holding: useHolding(isPast ? null : head),
    drafts,
    graph,
    nameOf: (nodeId) => names?.get(nodeId)?.name ?? nodeId,
  };
}

/** Who holds the execution. It changes with the time alone when a lease ends: the page is rendered anew then, and not every second. */
function useHolding(head: ExecutionView | null): Holding {
  const { lease, storeNow = 0 } = head ?? {};
  const kind = useSyncExternalStore(ticker.subscribe, () => holdingOf(lease, storeNow, ticker.getNow()).kind);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `kind` changes when the lease ends, and the holding is made anew then
  return useMemo(() => holdingOf(lease, storeNow, ticker.getNow()), [lease, storeNow, kind]);
}

function versionOf(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function useGraph(model: ShownExecution["model"], hash: string | null, revision: number, typeHandles: TypeHandles): Graph | "gone" | null {
  const definition = hash === null ? undefined : model.definition(hash);
  const steps = definition ? stepsOfCode(definition, model.shown) : [];
  const drawn = steps.join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: a definition that was not there comes with a revision; `drawn` names the steps
  return useMemo(() => {
    if (hash === null || definition === undefined) return null;
    return definition === null ? "gone" : graphOf(definition, hash, typeHandles, steps);
  }, [hash, definition, typeHandles, definition ? 0 : revision, drawn]);
}

/** The newer one of what the server says and what was folded here. */
function presentOf(
  head: ExecutionView | null,
  state: ExecutionState | null,
): { readonly status: Status; readonly explanation: Explanation } | null {
  if (state?.folded && (!head || state.version > head.version)) return state.folded;
  return head;
}

/** The waits that the server tells, as long as what was folded here is not newer. Payloads come from where they are whole. */
function presentWaits(head: ExecutionView | null, state: ExecutionState | null): readonly WaitInfo[] {
  const folded = state?.folded;
  const own = waitsOf(folded?.explanation ?? null);
  if (!head || !folded) return head?.waits ?? own;
  const isNewer = state.version > head.version && folded.explanation.more === 0;
  const [listed, others] = isNewer ? [own, head.waits] : [head.waits, own];
  const other = new Map(others.map((wait) => [wait.id, wait]));
  return listed.map((wait) => (cutBytes(wait.payload) === null ? wait : (other.get(wait.id) ?? wait)));
}

function waitsOf(explanation: Explanation | null): readonly WaitInfo[] {
  return explanation?.places.flatMap(({ waits }) => waits) ?? [];
}
