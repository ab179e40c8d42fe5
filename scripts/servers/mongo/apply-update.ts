import { type Document, ObjectId } from "bson";
import { Aggregator, updateOne } from "mingo";
import { asCommandError, CommandError } from "./command-error.ts";
import { copyDocument, keyOf, maxDocumentBytes, sizeOf } from "./document.ts";

/** An update of the commands `update` and `findAndModify`. */
export interface UpdateStatement {
  readonly query: Document;
  /** A replacement document, a document of operators, or a pipeline. */
  readonly update: Document | readonly Document[];
  readonly arrayFilters?: Document[];
}

const updateStages = ["$addFields", "$set", "$project", "$unset", "$replaceRoot", "$replaceWith"];

/** Returns the document after the update, without changing the given document. */
export function applyUpdate(document: Document, statement: UpdateStatement): Document {
  const after = withId(document._id, change(document, statement, false));
  if (keyOf([after._id]) !== keyOf([document._id])) {
    throw new CommandError(66, "Performing an update on the path '_id' would modify the immutable field '_id'");
  }
  return after;
}

/** Returns the document that an upsert inserts: the values that the query requires to be equal, and then the update. */
export function upsertedDocument(statement: UpdateStatement): Document {
  const { _id, ...others } = equalities(statement.query);
  const seed = applyOperators(_id === undefined ? {} : { _id }, { $set: others }, {});
  const after = change(seed, statement, true);
  return withId(new ObjectId(), after);
}

function change(document: Document, { query, update, arrayFilters }: UpdateStatement, inserting: boolean): Document {
  if (isPipeline(update)) return applyPipeline(document, update);
  const names = Object.keys(update);
  const operators = names.filter((name) => name.startsWith("$"));
  if (operators.length === 0) return withId(document._id, copyDocument(update));
  if (operators.length < names.length) throw new CommandError(9, "An update has operators only, or none");
  const { $setOnInsert, ...others } = update;
  // The query determines which element the positional operator $ refers to.
  if (!inserting) return applyOperators(document, others, query, arrayFilters);
  const { _id = document._id, ...fields } = { ...others.$set, ...$setOnInsert } as Document;
  return applyOperators(_id === undefined ? document : withId(_id, { ...document, _id }), { ...others, $set: fields }, {}, arrayFilters);
}

function applyOperators(document: Document, update: Document, query: Document, arrayFilters: Document[] = []): Document {
  const copy = [copyDocument(document)];
  const used = Object.fromEntries(Object.entries(update).filter(([, fields]) => Object.keys(fields).length > 0));
  try {
    updateOne(copy, query, used, { arrayFilters, cloneMode: "deep" });
    return copyDocument(checked(copy[0]!));
  } catch (error) {
    throw asCommandError(error, 9);
  }
}

/**
 * Returns the document after the stages of an update.
 * @param variables the values of variables such as `$$new` in the stages
 */
export function applyPipeline(document: Document, stages: readonly Document[], variables: Document = {}): Document {
  const unknown = stages.flatMap((stage) => Object.keys(stage)).find((name) => !updateStages.includes(name));
  if (unknown) throw new CommandError(72, `${unknown} is not allowed to be used within an update`);
  try {
    const [after] = new Aggregator([...stages], { variables }).run([copyDocument(document)]);
    return copyDocument(checked(after ?? {}));
  } catch (error) {
    throw asCommandError(error, 2);
  }
}

function isPipeline(update: Document | readonly Document[]): update is readonly Document[] {
  return Array.isArray(update);
}

/** Returns the values that a query requires to be equal: `{ a: 1, "b.c": { $eq: 2 }, $and: [{ d: 3 }] }` has those of a, b.c and d. */
function equalities(query: Document): Document {
  const found: Document = {};
  for (const [name, condition] of Object.entries(query)) {
    if (name === "$and") Object.assign(found, ...(condition as Document[]).map(equalities));
    else if (name.startsWith("$")) continue;
    else if (!isOperators(condition)) found[name] = condition;
    else if ("$eq" in condition) found[name] = condition.$eq;
  }
  return found;
}

function isOperators(condition: unknown): condition is Document {
  return typeof condition === "object" && condition !== null && Object.keys(condition).some((name) => name.startsWith("$"));
}

/** Returns the document with `_id` as its first field. */
function withId(id: unknown, document: Document): Document {
  const { _id = id, ...others } = document;
  return _id === undefined ? others : { _id, ...others };
}

function checked(document: Document): Document {
  if (sizeOf(document) <= maxDocumentBytes) return document;
  throw new CommandError(17419, `Resulting document after update is larger than ${maxDocumentBytes}`);
}
