/** Exported names that several files declare, each with the one meaning that it has in all of these files. */
export const sharedMeanings: Readonly<Record<string, string>> = {
  checkLayout: "of a database: makes sure that its tables are there and of this version",
  clock: "of a database: the SQL that gives its time",
  failsForEveryWrite: "of a database: every write of a group would also fail if it were sent alone",
};

/** A word that has a better one. Names of types, functions, constants, files and folders must not contain it. */
export interface ReplacedWord {
  /** The word in kebab-case, as part of a name. */
  readonly word: RegExp;
  /** The better words, as part of an error message. */
  readonly instead: string;
  /** The rule is only for files whose path begins with one of these texts. Default: all files. */
  readonly below?: readonly string[];
  /** Names that may keep the word, grouped by the reason. */
  readonly except?: Readonly<Record<string, readonly string[]>>;
}

const library = "packages/stepfold/src/";

export const replacedWords: readonly ReplacedWord[] = [
  {
    word: /places?/,
    instead: "the address, scope, context, ordinal or permit that is meant",
    except: {
      "what explain() publishes: where an execution stands": [
        ...["PlaceInfo", "placesOf", "maxPlaces", "maxOwnPlaces", "maxChildPlaces"],
        ...["placeLine", "place-line", "placesText", "places-text"],
        ...["places", "LeadPlaces", "leadPlaces", "OtherPlace", "PlaceList"],
      ],
      "public in stepfold/runtime: a wait, a path or a node of an execution": ["Place"],
    },
  },
  {
    word: /turns?/,
    instead: "permits, keyedLock or sortKey",
    except: {
      "the engine's Turn": [
        "Turn",
        "TurnSetting",
        "TurnRequest",
        "TurnOptions",
        "openTurn",
        "checkTurnOptions",
        "turn",
        "turn-options",
        "open-turn",
      ],
    },
  },
  {
    word: /within/,
    instead: "scopedKey, enforceLimits or withTimeout",
    except: { "public in stepfold/expressions": ["compileTemplateWithin"] },
  },
  { word: /messenger|nudge/, instead: "WakeUpSender, wake" },
  { word: /post/, instead: "OutboxSender, enqueueMessage", except: { "the order of a graph's nodes": ["postOrder"] } },
  {
    word: /deliver/,
    instead: "OutboxSender, Outbox",
    except: { "what becomes of the messages of an outbox": ["deliver", "deliver-outbox", "deliver-messages"] },
  },
  { word: /tells?|told|here/, instead: "dispatchCommand, report; queued, polled, local" },
  { word: /found/, instead: "queued, polled, local", except: { "a path that a target means": ["FoundPath"] } },
  {
    word: /drivers?|drive/,
    instead: "Dispatcher or ExecutionSession",
    except: { "the client library of a database": ["Driver", "RedisDrivers", "importDriver", "import-driver"] },
  },
  { word: /kernel/, instead: "runtimeContext" },
  { word: /poller/, instead: "Dispatcher", except: { "the part of the Dispatcher that polls the store": ["Poller", "poller"] } },
  { word: /listener/, instead: "Dispatcher", except: { "a function that is told of changes, or a subscriber": ["Listener"] } },
  { word: /hall|seat|way|hands/, instead: "broker, Subscription, jobHandler" },
  { word: /lines?/, instead: "queue", below: ["stores", "queues", "runtime", "engine"].map((part) => `${library}${part}/`) },
  { word: /lanes?|agenda|rota|shelf|shelves/, instead: "partition, dueIndex, roundRobin, tables" },
  { word: /walk/, instead: "scan" },
  {
    word: /records?/,
    instead: "the kit",
    below: [`${library}stores/`],
    except: {
      "what stands beside the executions: a RecordTable": [
        ...["RecordKind", "StoredRecord", "RecordWrite", "RecordTable", "record-table"],
        ...["dynamoRecords", "dynamo-records", "recordKey", "mongoRecords", "mongo-records", "postgresRecords", "postgres-records"],
        ...["recordsOf", "putRecords", "mysql-records", "recordStatement", "getRecordsScript", "putRecordsScript"],
      ],
      "of a value: an object of any fields": ["RecordLayout"],
    },
  },
  { word: /bury|buried/, instead: "tombstone" },
  { word: /lapsed?/, instead: "expireLeases" },
  { word: /standing/, instead: "status" },
  { word: /under-way/, instead: "inFlight" },
  {
    word: /^(resumed|cancelled|delivered)$/,
    instead: "resumeEvent() makes the event, applyResumed() applies it",
    except: { "a type of the snapshot: what a path was resumed with": ["Resumed"] },
  },
  { word: /^(most|longest)(?=-)/, instead: "max, with the unit", except: { "an order": ["longestUnchangedFirst"] } },
  { word: /moments?/, instead: "timestamp" },
  { word: /outgoing/, instead: "http-request" },
  { word: /address-guard/, instead: "ssrf-guard" },
  { word: /persons?/, instead: "current-user" },
  { word: /awaited/, instead: "others-running" },
  { word: /moving-(verbs|commands)/, instead: "commands" },
  { word: /^started$/, instead: "start-event" },
];
