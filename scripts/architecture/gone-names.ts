/** A name of something that does not exist any more. Sources, docs and API reports must not contain it. */
export interface GoneName {
  readonly name: RegExp;
  /** What is true now, as part of an error message. */
  readonly now: string;
  /** Paths of the files that may contain it, each with the reason. */
  readonly except?: Readonly<Record<string, string>>;
}

/** An execution keeps its id for life: `continueAs` begins its next run, and `restart` opens it again. */
const sameId = "an execution keeps its id: say run, or restart";
/** The file of a history whose id was used again after the execution was deleted. */
const historyFile = "the name of a file: its number tells apart executions that had the same id one after the other";

export const goneNames: readonly GoneName[] = [
  { name: /\b\w*successor\w*/i, now: sameId },
  { name: /\b(?:latestOf|restartOf|isRestartOf)\b/, now: sameId },
  { name: /\blatest\(\)/, now: `${sameId}; its handle is the latest` },
  { name: /\bfollow\??:|\{ follow\b|`follow`/, now: "there is nothing to follow: result() waits on over restarts and runs" },
  {
    name: /\bcontinuedAs\b/,
    now: "snapshot.run has the number of the run",
    except: { "packages/stepfold/src/core/reading/read-snapshot.ts": "refuses snapshots that have it, and says what to do" },
  },
  { name: /["'`]continue["'`]/, now: "continueAs sends no message: it is the event `continued`" },
  {
    name: /[\w"'`}]~(?:[2-9]|[1-9]\d+)\b/,
    now: sameId,
    except: { "packages/cli/src/store/history-files.ts": historyFile, "docs/stores/README.md": historyFile },
  },
  { name: /latest-?schedule/i, now: "the id of a schedule is made from its name: scheduleIdOf" },
];
