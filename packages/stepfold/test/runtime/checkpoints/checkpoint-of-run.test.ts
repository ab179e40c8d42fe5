import { expect, it } from "vitest";
import type { Event } from "../../../src/core/snapshot/event.ts";
import { apply, fold } from "../../../src/core/transition/apply.ts";
import { openDraft } from "../../../src/core/transition/draft/open-draft.ts";
import { makeCommit } from "../../../src/runtime/context/make-commit.ts";
import { graph, startedAt } from "../../core/execution.fixture.ts";

it("a commit that begins a run has a checkpoint, also if the run has ended by its last event", () => {
  const flow = graph(["a>b"]);
  const named: Event = { type: "metadataSet", version: 1, at: 4, metadata: {} };
  const begun = fold(flow, [startedAt(flow, "a", { incarnation: "i" }), named]);
  const cancelled: Event = { type: "cancelled", version: 2, at: 5 };
  const context = { newCommitId: () => "c", checkpointBytes: 1 };
  const commitOf = (first: object) => makeCommit(context, openDraft(flow, apply(flow, begun, cancelled)), [first as Event, cancelled]);
  expect(commitOf({ type: "continued" }).checkpoint).toMatchObject({ context: {} });
  expect(commitOf({ type: "signalled" }).checkpoint).toBeUndefined();
});
