import { maxKeyBytes } from "../../kit/blob-key.ts";
import { viewsOf } from "./mysql-views.ts";
import type { Tables } from "./tables.ts";

/** The version of the layout that this version of Stepfold makes. */
export const newestLayout = 4;

/** Text that is compared byte by byte: no case, no accent, no space at the end is ever the same. */
const name = "VARBINARY(1020) NOT NULL";
const json = "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
const table = "ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin";

/**
 * The steps that lead from an empty database to today's layout, oldest first, each with its statements. A step that was
 * released is never edited. Servers commit every statement of them by itself: each may be made again after a crash.
 *
 * What a commit of the claim's holder touches: one row of `executions`, none of its indexes, and one new row of `events`.
 */
export function stepsOf(tables: Tables): readonly (readonly string[])[] {
  const { executions, events, children, definitions, tombstones, blobs } = tables;
  return [
    [
      executionsOf(tables),
      `CREATE TABLE IF NOT EXISTS ${events} (
  execution BIGINT NOT NULL,
  version BIGINT NOT NULL,
  commit_id ${name},
  event ${json} NOT NULL COMMENT 'JSON',
  PRIMARY KEY (execution, version)
) ${table}`,
      `CREATE TABLE IF NOT EXISTS ${children} (
  execution BIGINT NOT NULL,
  hash BINARY(32) NOT NULL COMMENT 'SHA-256 of the name, which may be of any length',
  name LONGBLOB NOT NULL,
  place BIGINT NOT NULL COMMENT 'in order of creation: one that changes keeps its place',
  head ${json} NOT NULL COMMENT 'JSON: the child without its context (see events)',
  PRIMARY KEY (execution, hash)
) ${table}`,
      `CREATE TABLE IF NOT EXISTS ${definitions} (
  hash ${name} PRIMARY KEY,
  definition ${json} NOT NULL COMMENT 'JSON'
) ${table}`,
      `CREATE TABLE IF NOT EXISTS ${tombstones} (
  id ${name} PRIMARY KEY,
  incarnation ${name},
  status VARBINARY(16) NOT NULL,
  output ${json} COMMENT 'JSON',
  deleted_at BIGINT NOT NULL,
  KEY deleted (deleted_at)
) ${table}`,
      ...viewsOf(tables),
    ],
    [
      `CREATE TABLE IF NOT EXISTS ${blobs} (
  name VARBINARY(${maxKeyBytes}) NOT NULL PRIMARY KEY,
  written_at BIGINT NOT NULL,
  bytes LONGBLOB NOT NULL
) ${table}`,
    ],
    [
      // MySQL cannot be asked to do it only once: there it fails when it is made again, which is passed over.
      // Since then due_at of what is due now is the time of the commit that said so, less nowLiesBackMs
      `ALTER TABLE ${executions} ADD COLUMN /*M! IF NOT EXISTS */ crashes BIGINT NOT NULL DEFAULT 0
  COMMENT 'claims in a row that ran out, without a commit of their holder'`,
    ],
    turnSteps(tables),
  ];
}

/** What executions need that take turns. */
function turnSteps({ executions, permits }: Tables): string[] {
  return [
    // claims lock a row of it for each key for which they take turns; nothing else is in it
    `CREATE TABLE IF NOT EXISTS ${permits} (permit_key ${name} PRIMARY KEY) ${table}`,
    // stored: servers have had trouble with indexes of columns that are not. Without a permit those are NULL, so that no
    // commit changes their indexes; those without a permit lie together in due_by_key, those with one by their keys
    `ALTER TABLE ${executions}
  ADD COLUMN /*M! IF NOT EXISTS */ permit_key VARBINARY(1020) COMMENT 'what it takes turns for; NULL: for nothing',
  ADD COLUMN /*M! IF NOT EXISTS */ permit_limit BIGINT COMMENT 'how many with this key may be held at once',
  ADD COLUMN /*M! IF NOT EXISTS */ turn_at BIGINT GENERATED ALWAYS AS (CASE WHEN permit_key IS NULL THEN NULL ELSE due_at END) STORED,
  ADD COLUMN /*M! IF NOT EXISTS */ turn_until BIGINT GENERATED ALWAYS AS (CASE WHEN permit_key IS NULL THEN NULL ELSE lease_until END) STORED,
  ADD KEY /*M! IF NOT EXISTS */ due_by_key (permit_key, due_at, seq),
  ADD KEY /*M! IF NOT EXISTS */ waiting (turn_at, seq),
  ADD KEY /*M! IF NOT EXISTS */ held (permit_key, turn_until)`,
    `ALTER TABLE ${executions} DROP KEY /*M! IF EXISTS */ due`,
  ];
}

function executionsOf({ executions }: Tables): string {
  return `CREATE TABLE IF NOT EXISTS ${executions} (
  seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  id ${name} COMMENT 'UTF-8, like every VARBINARY here',
  incarnation ${name},
  definition_id ${name},
  definition ${json} NOT NULL COMMENT 'JSON; like metadata fixed at the start',
  metadata ${json} NOT NULL COMMENT 'JSON',
  creator ${name} COMMENT 'the transaction that created it',
  version BIGINT NOT NULL,
  status VARBINARY(16) NOT NULL,
  head ${json} NOT NULL COMMENT 'JSON: the snapshot without what is in events and in other columns',
  wake_at BIGINT COMMENT 'when it needs somebody to drive it; 0: now; NULL: never',
  due_at BIGINT COMMENT 'when it may be claimed: lease_until while it is held, else wake_at',
  owner VARBINARY(1020) COMMENT 'who holds it; NULL: nobody',
  fence BIGINT NOT NULL COMMENT 'number of claims so far',
  lease_until BIGINT,
  created_at BIGINT NOT NULL COMMENT 'epoch milliseconds, like all times',
  updated_at BIGINT NOT NULL,
  ended_at BIGINT COMMENT 'apart from updated_at, which changes at every step, so that only the end writes its index',
  UNIQUE KEY ids (id),
  KEY due (due_at, seq),
  KEY created (created_at, seq),
  KEY definitions (definition_id, created_at, seq),
  KEY statuses (status, created_at, seq),
  KEY ended (ended_at, seq)
) ${table}`;
}
