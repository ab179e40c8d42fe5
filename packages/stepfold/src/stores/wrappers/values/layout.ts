/**
 * What a part of a commit is made of, as data. Whatever no shape names is a value of the user: what this file does not
 * list is never taken for structure.
 */
export type Shape = Leaf | ListShape | RecordShape | FieldsShape;

/**
 * `structure`: the engine's or the definition's own, and scalar, or a list of scalars. `text`: a value that has to stay
 * text. `metadata`: a record whose keys are the user's. `permit`: a key that is the user's, with its limit. `value`: any
 * value of the user.
 */
type Leaf = "structure" | "text" | "metadata" | "permit" | "value";

interface ListShape {
  readonly listOf: Shape;
}

interface RecordShape {
  readonly recordOf: Shape;
}

interface FieldsShape {
  readonly fields: ReadonlyMap<string, Shape>;
}

const listOf = (shape: Shape): ListShape => ({ listOf: shape });

/** An object with these structural fields, others with a shape of their own, and values beside. */
function fields(structure: string, others: Readonly<Record<string, Shape>> = {}): FieldsShape {
  const names = structure
    .split(" ")
    .filter(Boolean)
    .map((name) => [name, "structure"] as const);
  return { fields: new Map<string, Shape>([...names, ...Object.entries(others)]) };
}

const definition = fields("id hash");
const error = fields("nodeId", { message: "text" });
const undo = fields("scope pathId version");
const start = fields("workflowId", { definition });
const parent = fields("workflowId incarnation waitId depth");
const wait = fields("id kind transient resumeAt timeoutAt quorum workflowId");

const mapState = fields("total next done failed cancelled concurrency open completeWhen remaining tolerated");
const path = fields("id nodeId status turn visit attempts since forks via draining nextRetryAt stepPath", {
  waves: { recordOf: "structure" },
  inputs: listOf(fields("nodeId version")),
  waits: listOf(wait),
  children: fields("key workflow", { map: mapState }),
  undoes: undo,
});

const scope: Readonly<Record<string, Shape>> = {
  activePaths: listOf(path),
  error,
  rounds: { recordOf: fields("got") },
  ending: fields("status nodeId", { error, begun: listOf(fields("scope pathId version nodeId")) }),
};

/** Of a `ChildHead`. */
export const childShape: Shape = fields("status currentNodeId version workflow queued kept", scope);

/** Of a `SnapshotHead`. */
export const headShape: Shape = fields(
  "status currentNodeId version schema workflowId lastStartedAt totalExecutionTime steps sizeBytes createdAt incarnation",
  {
    ...scope,
    definition,
    metadata: "metadata",
    permit: "permit",
    retryState: fields("nodeId attempts nextRetryAt"),
    inbox: listOf(fields("expiresAt")),
    parent,
    outbox: listOf(fields("id to type waitId", { definition })),
  },
);

const result = fields("timestamp attempt pathId version", { error: "text" });
const spawnedMap = fields("concurrency open completeWhen remaining tolerated", { items: listOf("value") });

/** Of an `Event` of any type. */
export const eventShape: Shape = fields(
  [
    "type version at sizeBytes scope pathId turn nodeId attempt startedAt visit workflowId incarnation handle handles terminates",
    "retryAt waitId by expiresAt pathIds completes ids",
  ].join(" "),
  {
    consequences: fields("", {
      results: listOf(fields("scope nodeId", { result })),
      ended: listOf(fields("scope pathId nodeId reason")),
    }),
    definition,
    metadata: "metadata",
    permit: "permit",
    parent,
    undoes: undo,
    starts: start,
    error,
    waits: listOf(wait),
    children: fields("workflow", { map: spawnedMap }),
  },
);
