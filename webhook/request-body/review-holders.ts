/** Who a review comes from, as far as it is known. */
export interface ReviewSender {
  readonly namespace: string | undefined;
  readonly username: string | undefined;
}

const SERVICE_ACCOUNT = 'system:serviceaccount:';
const CONTROLLER = `${SERVICE_ACCOUNT}kube-system:`;

/**
 * Whom a review counts against where many share what is limited: its namespace, and its user unless that is a part of
 * Kubernetes, which acts for every namespace. A review of which neither is known counts as one of the unknown.
 */
export function holdersOf({ namespace, username }: ReviewSender): readonly string[] {
  const holders = [
    ...(namespace === undefined || namespace === '' ? [] : [`namespace ${namespace}`]),
    ...(username === undefined || actsForAll(username) ? [] : [`user ${username}`]),
  ];
  return holders.length === 0 && namespace === undefined ? ['unknown'] : holders;
}

function actsForAll(username: string): boolean {
  if (username.startsWith(CONTROLLER)) return true;
  return username.startsWith('system:') && !username.startsWith(SERVICE_ACCOUNT);
}
