import type { Document } from "bson";
import { Aggregator } from "mingo";
import type { Command, CommandHandler, Storage } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { defaultBatchSize } from "./cursor-table.ts";
import { copyDocument } from "./document.ts";
import { mergeStage } from "./merge-stage.ts";

/** The command `aggregate`, which reads, and also writes if its last stage is `$merge`. */
export const aggregateCommand: Readonly<Record<string, CommandHandler>> = {
  aggregate(command, storage) {
    const { aggregate: name, pipeline, cursor, $db } = command;
    refuseStages(pipeline);
    const merge = (pipeline as Document[]).at(-1)?.$merge;
    const write = merge === undefined ? undefined : mergeStage(merge, $db, storage.catalog);
    const results = resultsOf(command, write ? pipeline.slice(0, -1) : pipeline, storage);
    write?.(results);
    return storage.cursors.open(`${$db}.${name}`, write ? [] : results, Number(cursor?.batchSize ?? defaultBatchSize));
  },
};

function resultsOf({ aggregate: name, $db }: Command, pipeline: readonly Document[], { catalog }: Storage): Document[] {
  const collectionResolver = (other: string): Document[] => catalog.read($db, other).find({}).map(copyDocument);
  // The collection finds a document by _id without a scan.
  const [filter = {}, rest] = pipeline[0]?.$match ? [pipeline[0].$match as Document, pipeline.slice(1)] : [{}, pipeline];
  // `{ aggregate: 1 }` refers to the database and has no documents.
  const documents = name === 1 ? [] : catalog.read($db, name).find(filter).map(copyDocument);
  return new Aggregator([...rest], { collectionResolver }).run<Document>(documents);
}

function refuseStages(pipeline: readonly Document[]): void {
  for (const [index, stage] of pipeline.entries()) {
    if ("$changeStream" in stage) throw new CommandError(40573, "The $changeStream stage is only supported on replica sets");
    if ("$out" in stage) throw new CommandError(115, "This stand-in does not have $out");
    if ("$merge" in stage && index < pipeline.length - 1) {
      throw new CommandError(40601, "$merge can only be the final stage in the pipeline");
    }
  }
}
