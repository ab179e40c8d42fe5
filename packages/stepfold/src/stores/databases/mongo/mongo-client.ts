/** A document as it is sent and received. */
export type MongoDocument = Record<string, unknown>;

/** The methods of a collection of the package `mongodb` that a client must have. */
export interface MongoCollection {
  readonly collectionName: string;
  findOne(filter: MongoDocument, options: MongoDocument): Promise<MongoDocument | null>;
  find(filter: MongoDocument, options: MongoDocument): { toArray(): Promise<MongoDocument[]> };
  aggregate(pipeline: MongoDocument[], options: MongoDocument): { toArray(): Promise<MongoDocument[]> };
  updateOne(filter: MongoDocument, update: MongoDocument | MongoDocument[], options: MongoDocument): Promise<{ matchedCount: number }>;
  findOneAndUpdate(filter: MongoDocument, update: MongoDocument[], options: MongoDocument): Promise<MongoDocument | null>;
  deleteMany(filter: MongoDocument, options: MongoDocument): Promise<unknown>;
  createIndex(keys: Record<string, 1 | -1>, options: MongoDocument): Promise<unknown>;
}

/** The methods of a `Db` of the package `mongodb` that are used, declared here so that the package is not a dependency. */
export interface MongoDatabase {
  collection(name: string): MongoCollection;
  command(command: MongoDocument): Promise<MongoDocument>;
}
