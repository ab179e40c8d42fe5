/**
 * Sends one statement of SQL within a transaction that somebody else begins and ends. What it changes comes with the rest
 * of the transaction, or not at all. Rejects with the driver's error.
 */
export type TransactionQuery = (text: string, values?: readonly unknown[]) => Promise<{ readonly rows: readonly unknown[] }>;
