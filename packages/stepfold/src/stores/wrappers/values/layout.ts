import type { Json } from "../../../core/values/json.ts";
import { isScalar } from "./codec.ts";

/**
 * Describes the parts of a commit, as data. A field that no layout names counts as a value of the user, so a field that is forgotten here
 * is encoded and not left readable.
 */
export type Layout = Leaf | ListLayout | RecordLayout | FieldsLayout;

/**
 * - `structure`: a scalar, or a list of scalars, that the engine writes or that comes from the definition. It stays as it is.
 * - `text`: a text of the user whose encoded form must be a text too.
 * - `metadata`: a record whose keys the user chooses.
 * - `permit`: a permit or a rate: a key that the user chooses, and numbers.
 * - `value`: JSON of the user, of any shape.
 */
type Leaf = "structure" | "text" | "metadata" | "permit" | "value";

/** Returns true if a part with the layout `structure` has the form of one and may stay as it is. */
export function isStructural(part: Json): boolean {
  return isScalar(part) || (Array.isArray(part) && part.every(isScalar));
}

interface ListLayout {
  readonly listOf: Layout;
}

interface RecordLayout {
  readonly recordOf: Layout;
}

interface FieldsLayout {
  readonly fields: ReadonlyMap<string, Layout>;
}

const listOf = (layout: Layout): ListLayout => ({ listOf: layout });

/**
 * Makes the layout of an object: `structure` names structural fields, `others` have their own layout, and all further fields are values.
 */
function fields(structure: string, others: Readonly<Record<string, Layout>> = {}): FieldsLayout {
  const names = structure
    .split(" ")
    .filter(Boolean)
    .map((name) => [name, "structure"] as const);
  return { fields: new Map<string, Layout>([...names, ...Object.entries(others)]) };
}

const definition = fields("id hash");
/** The layout of an error. */
export const errorLayout: FieldsLayout = fields("nodeId notUndone", { message: "text" });
const error = errorLayout;
/** The layout of `SnapshotHead.parked`. */
export const parkedLayout: FieldsLayout = fields("code at until", { message: "text" });
const acted = fields("visit by");
const undo = fields("scope pathId version", { acted });
const undoneStep = fields("scope pathId version nodeId", { acted });
const start = fields("workflowId descendants allowed", { definition });
const parent = fields("workflowId incarnation waitId depth descendants");
const scheduledBy = fields("schedule workflowId at reports");
const origin = fields("workflowId incarnation version reason");
const inEvents: Readonly<Record<string, Layout>> = { inEvents: { recordOf: "structure" } };
const answer = fields("at", inEvents);
const wait = fields("id firstId kind transient begins openedAt resumeAt timeoutAt quorum workflowId typeSchema", {
  ...inEvents,
  answers: listOf(answer),
  refused: fields("at"),
});
/** The layout of `ExecutionSummary.asked`. */
export const askedLayout: ListLayout = listOf(fields("id nodeId kind openedAt timeoutAt lacks"));
const reopening = fields("waitId version", { waits: listOf(wait) });
const schemas: Readonly<Record<string, Layout>> = { schemas: { recordOf: "value" } };

const mapState = fields("total next done failed cancelled concurrency open completeWhen remaining tolerated ahead");
const path = fields("id nodeId status turn visit attempts since forks via draining nextRetryAt begun stepPath", {
  acted,
  waves: { recordOf: "structure" },
  inputs: listOf(fields("nodeId version")),
  waits: listOf(wait),
  resumed: fields("by", { ...inEvents, answers: listOf(answer), reopens: reopening }),
  children: fields("key workflow", { map: mapState }),
  undoes: undo,
});

const scope: Readonly<Record<string, Layout>> = {
  ...inEvents,
  activePaths: listOf(path),
  error,
  rounds: { recordOf: fields("got") },
  begun: listOf(fields("pathId nodeId", { acted })),
  ending: fields("status nodeId", { error, begun: listOf(undoneStep), again: listOf(undoneStep) }),
};

/** The layout of a `ChildHead`. */
export const childLayout: FieldsLayout = fields("status currentNodeId version workflow queued kept settled deadlineAt", scope);

const outbox = listOf(
  fields("id to type waitId descendants compensated workflow schedule ttlMs", { definition, scheduledBy, metadata: "metadata" }),
);

const givenTime = fields("deadlineAt timeoutMs");

/** The layout of a `SnapshotHead`. */
export const headLayout: FieldsLayout = fields(
  "status currentNodeId version schema workflowId lastStartedAt totalExecutionTime steps sizeBytes historyBytes createdAt incarnation descendants restarts tenant taskQueue unnamed deadlineAt",
  {
    ...scope,
    definition,
    metadata: "metadata",
    permit: "permit",
    rate: "permit",
    retryState: fields("nodeId attempts nextRetryAt"),
    parked: parkedLayout,
    inbox: listOf(fields("expiresAt", inEvents)),
    parent,
    scheduledBy,
    from: origin,
    run: fields("number since at quick"),
    givenTime,
    keyRows: fields("days before refused"),
    closing: fields("status nodeId", { error }),
    outbox,
  },
);

const failedResult: Readonly<Record<string, Layout>> = {
  error: "text",
  // the output is the error if the failure left by the handle "error", else null
  output: error,
};
const contextLayout: Layout = { recordOf: listOf(fields("timestamp attempt pathId version", { ...failedResult, acted })) };

const variablesLayout: Layout = { recordOf: listOf(fields("version", { added: listOf("value") })) };

/** The fields of a snapshot in addition to those of its head and its children. */
const held: Readonly<Record<string, Layout>> = {
  context: contextLayout,
  variables: variablesLayout,
  mapItems: { recordOf: listOf("value") },
  compensations: listOf(fields("nodeId timestamp attempt version", { ...failedResult, undoes: undo })),
  answered: listOf(fields("command version at")),
  ...schemas,
};

/** The layout of a `Snapshot`, which a store makes from a head, children and events. */
export const snapshotLayout: Layout = {
  fields: new Map<string, Layout>([
    ...headLayout.fields,
    ...Object.entries(held),
    [
      "childStates",
      {
        recordOf: { fields: new Map<string, Layout>([...childLayout.fields, ["context", contextLayout], ["variables", variablesLayout]]) },
      },
    ],
  ]),
};

/** The layout of a `HistoryCheckpoint`. */
export const checkpointLayout: Layout = fields("version incarnation tenant createdAt", {
  ...held,
  definition,
  metadata: "metadata",
  childStates: { recordOf: fields("", { context: contextLayout, variables: variablesLayout }) },
  values: { recordOf: "value" },
});

const result = fields("timestamp attempt pathId version", { error: "text", acted });
const spawnedMap = fields("concurrency open completeWhen remaining tolerated", { items: listOf("value") });

/** The layout of an `Event` of any type. */
export const eventLayout: Layout = fields(
  [
    "type version at sizeBytes scope pathId turn nodeId attempt startedAt visit workflowId incarnation handle handles terminates",
    "run quick restarts descendants totalExecutionTime firstNodeId dropsCompensations since",
    "retryAt anew begun waitId firstId by expiresAt pathIds completes ids tenant taskQueue unnamed answer startAt deadlineAt",
  ].join(" "),
  {
    consequences: fields("", {
      results: listOf(fields("scope nodeId", { result })),
      ended: listOf(fields("scope pathId nodeId reason")),
    }),
    definition,
    metadata: "metadata",
    permit: "permit",
    rate: "permit",
    parent,
    scheduledBy,
    undoes: undo,
    starts: start,
    signal: fields("type to ttlMs allowed workflow"),
    sends: listOf(fields("type to workflow schedule", { scheduledBy, metadata: "metadata" })),
    givenTime,
    inbox: listOf(fields("expiresAt", inEvents)),
    outbox,
    variables: { recordOf: "value" },
    // all items of an event together: the inner store keeps them beside the list, and does not look into them
    appended: { recordOf: "value" },
    error,
    waits: listOf(wait),
    ...schemas,
    children: fields("workflow timeoutAt", { map: spawnedMap }),
    // the inner store makes a snapshot of the state, so its structure must stay readable
    checkpoint: fields("", { from: origin, state: snapshotLayout }),
    state: snapshotLayout,
  },
);
