import { defaultTaskQueue } from "../../../core/values/ids/id.ts";
import type { Permit } from "../../../core/values/shared-keys.ts";
import { isRateKey } from "./rate-key.ts";

/**
 * A partition of the due executions. The permit key of a row names its partition; rows without one form the partition that claims look at
 * first. What waits in one partition delays nothing in another one, however much it is.
 */
export interface Partition {
  /** Null: the default one. */
  readonly taskQueue: string | null;
  /** The hash of its definition, if a process has left the execution to others because it cannot run this definition; else null. */
  readonly definition: string | null;
  /** The concurrency key of the execution, or the key of the line of its rate; null: neither. */
  readonly key: string | null;
}

/** Which partitions a process takes. */
export interface TakenPartitions {
  readonly taskQueues?: readonly string[] | undefined;
  readonly lacks?: ReadonlySet<string> | undefined;
}

// no concurrency key begins like this: it has a tenant as JSON, in which no backslash stands before a "p" (see `ofTenant`)
const start = '"\\part:';

const plainPartition: Partition = { taskQueue: null, definition: null, key: null };

/** Returns the permit key of the rows of a partition; null: they have none. */
export function rowKeyOf({ taskQueue, definition, key }: Partition): string | null {
  if (taskQueue === null && definition === null) return key;
  return `${start}${taskQueue ?? ""}:${definition ?? ""}:${key ?? ""}`;
}

/** Reads the permit key of a row. */
export function partitionOf(rowKey: string | null | undefined): Partition {
  if (rowKey === null || rowKey === undefined) return plainPartition;
  if (!rowKey.startsWith(start)) return { ...plainPartition, key: rowKey };
  const [taskQueue, definition, ...key] = rowKey.slice(start.length).split(":") as [string, string, ...string[]];
  return { taskQueue: taskQueue || null, definition: definition || null, key: key.join(":") || null };
}

/** Returns the concurrency key whose holders are counted when an execution of a partition is claimed; null: claims are not counted there. */
export function countedKeyOf(rowKey: string): string | null {
  const { key } = partitionOf(rowKey);
  return key === null || isRateKey(key) ? null : key;
}

/** The permit of a row of a partition. @param limit the limit of its concurrency key or rate; without one it has no meaning */
export function rowPermit(partition: Partition, limit = 1): Permit | null {
  const key = rowKeyOf(partition);
  return key === null ? null : { key, limit };
}

/** The task queue of a partition; null: the default one. */
export function namedQueue(name: string | undefined): string | null {
  return name === undefined || name === defaultTaskQueue ? null : name;
}

/** Returns true if a process claims executions of a partition. */
export function takesPartition(partition: Partition, taken: TakenPartitions): boolean {
  const { definition } = partition;
  return !(definition !== null && taken.lacks?.has(definition)) && takesQueueOf(partition, taken);
}

/** Returns true if a process takes the task queue of a partition. */
export function takesQueueOf({ taskQueue }: Partition, { taskQueues }: TakenPartitions): boolean {
  return taskQueues?.includes(taskQueue ?? defaultTaskQueue) ?? true;
}
