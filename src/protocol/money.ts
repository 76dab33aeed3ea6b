const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
const fineDollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 });

/**
 * Formats dollars the way operators read them everywhere: `$0.31`, `$0.0021` where cents would show nothing, and `<$0.0001` for less than
 * that. Only zero is `$0.00`.
 */
export function moneyText(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.0001) return value < 0 ? '>-$0.0001' : '<$0.0001';
  return value !== 0 && Math.abs(value) < 0.01 ? fineDollars.format(value) : dollars.format(value);
}
