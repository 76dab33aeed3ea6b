const MICRO_DIGITS = 6;
const dollarFormat = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
const fineFormat = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 });

/**
 * Formats dollars the way operators read them everywhere: `$0.31`, `$0.0021` where cents would show nothing, and `<$0.0001` for less than
 * that. Only zero is `$0.00`.
 */
export function moneyText(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.0001) return value < 0 ? '>-$0.0001' : '<$0.0001';
  return value !== 0 && Math.abs(value) < 0.01 ? fineFormat.format(value) : dollarFormat.format(value);
}

/**
 * Whole micro-dollars of an amount, from its decimal text, as JavaScript and JSON write the number. Half a micro-dollar or more is rounded up, so
 * that the sum 0.1 + 0.2 (0.30000000000000004) counts as 0.3, and 0.0000005 as 0.000001.
 * Usage and ceilings are rounded alike: a ceiling is never more than half a micro-dollar above what was set, and usage of exactly the amount that was
 * set reaches it and does not exceed it.
 * @param dollars at least 0
 */
export function toMicroDollars(dollars: number): number {
  const [amount = '', exponent = '0'] = String(dollars).split('e');
  const [whole = '', fraction = ''] = amount.split('.');
  const digits = BigInt(whole + fraction);
  const shift = fraction.length - Number(exponent) - MICRO_DIGITS;
  if (shift <= 0) return Number(digits * 10n ** BigInt(-shift));
  const unit = 10n ** BigInt(shift);
  return Number((digits + unit / 2n) / unit);
}
