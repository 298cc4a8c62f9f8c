/** The sender of a review, as far as it is known. */
export interface ReviewSender {
  readonly namespace: string | undefined;
  readonly username: string | undefined;
}

const SERVICE_ACCOUNT = 'system:serviceaccount:';
const CONTROLLER = `${SERVICE_ACCOUNT}kube-system:`;

/**
 * The holders that a review counts against in a shared budget: its namespace, and its user unless that is a Kubernetes
 * component, which acts for every namespace. Reviews of which neither is known share the holder `unknown`.
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
