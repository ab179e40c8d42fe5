/**
 * Sends one SQL statement in a transaction that the store begins and ends. Its changes are committed with the rest of the transaction,
 * or not at all. Rejects with the driver's error.
 */
export type TransactionQuery = (text: string, values?: readonly unknown[]) => Promise<{ readonly rows: readonly unknown[] }>;
