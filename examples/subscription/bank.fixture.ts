import type { Bank, Payment } from "./subscription.ts";

/** A bank that declines the card "bad", and whose first `failingRefunds` refunds fail; with what it was asked for. */
export function bankFor(failingRefunds: number) {
  const charges: Payment[] = [];
  const refunds: Payment[] = [];
  const bank: Bank = {
    charge(payment) {
      charges.push(payment);
      if (payment.card === "bad") throw new Error("declined");
    },
    refund(payment) {
      refunds.push(payment);
      if (refunds.length <= failingRefunds) throw new Error("the bank does not answer");
    },
  };
  return { bank, charges, refunds };
}
