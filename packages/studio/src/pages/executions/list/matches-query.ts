import type { ExecutionListQuery, ListedExecution } from "stepfold/client";

/**
 * Whether a row belongs to a list. Rows change while they are shown, and the server also tells of rows that do not match, or no longer: filters
 * by text it leaves to the page. What a row does not say counts as a match.
 */
export function matchesQuery(row: ListedExecution, query: ExecutionListQuery): boolean {
  const { workflow, idPrefix, error, createdAfter, createdBefore, q } = query;
  return (
    matchesStatus(row, query) &&
    (workflow === undefined || row.definition.id === workflow) &&
    (idPrefix === undefined || row.workflowId.startsWith(idPrefix)) &&
    (error === undefined || row.error?.code === error || row.parked?.code === error) &&
    (q === undefined || hasText(row, q.toLowerCase())) &&
    (createdAfter === undefined || row.createdAt > timeOf(createdAfter)) &&
    (createdBefore === undefined || row.createdAt < timeOf(createdBefore)) &&
    matchesNode(row, query) &&
    matchesMetadata(row, query) &&
    matchesWaits(row, query)
  );
}

/** The texts in which the server looks. */
function hasText({ workflowId, definition, currentNodeId, error, parked, metadata }: ListedExecution, wanted: string): boolean {
  const texts = [workflowId, definition.id, currentNodeId, error?.code, error?.nodeId, error?.message, parked?.code, parked?.message];
  return [...texts, JSON.stringify(metadata)].some((text) => text?.toLowerCase().includes(wanted));
}

function matchesStatus({ status }: ListedExecution, query: ExecutionListQuery): boolean {
  if (query.status === undefined) return true;
  return typeof query.status === "string" ? query.status === status : query.status.includes(status);
}

function matchesNode({ currentNodeId, error, waits = [] }: ListedExecution, { node }: ExecutionListQuery): boolean {
  return node === undefined || currentNodeId === node || error?.nodeId === node || waits.some(({ nodeId }) => nodeId === node);
}

function matchesMetadata({ metadata }: ListedExecution, query: ExecutionListQuery): boolean {
  return Object.entries(query.metadata ?? {}).every(([key, wanted]) => metadata[key] === wanted || metadata[key] === jsonOrText(wanted));
}

function matchesWaits({ waits = [], waiting: summary }: ListedExecution, query: ExecutionListQuery): boolean {
  const { waiting, responder, waitingNode, signal } = query;
  if (waiting === undefined && responder === undefined && waitingNode === undefined && signal === undefined) return true;
  // an execution with very many waits lists only the first ones
  if (waits.length === 0 && summary) return true;
  return waits.some(
    (wait) =>
      (waiting === undefined || waiting === "any" || wait.kind === waiting) &&
      (responder === undefined || !wait.responders || wait.responders.includes(responder)) &&
      (waitingNode === undefined || wait.nodeId === waitingNode) &&
      (signal === undefined || wait.signal === signal),
  );
}

/** Text that is JSON is taken as JSON, as the server does. */
function jsonOrText(value: string | number | boolean): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function timeOf(time: string | number): number {
  return typeof time === "number" ? time : Date.parse(time);
}
