const REASONS = /^(?:OutOf.+|NodeAffinity|NodePorts|NodeName|TaintToleration|UnexpectedAdmissionError)$/;

/**
 * Whether a kubelet refuses a pod for this reason, which is that of the pod's status and of the Event: a scheduler bound it
 * to a node whose room another one had given away, or that had changed. `pkg/kubelet/lifecycle/predicate.go`.
 */
export function isKubeletRefusal(reason: string): boolean {
  return REASONS.test(reason);
}
