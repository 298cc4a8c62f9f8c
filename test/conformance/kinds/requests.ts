import { type PodResourceOptions, podLimits, podRequests } from '#shared/domain/pod/pod-requests.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { type WireObject, readBoolean, readObject } from '#shared/kube/decode/wire-object.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';
import { readCase, required } from '#test/conformance/required.ts';

/** Kind `requests`: effective requests and limits of a pod. */
export function answer(raw: unknown): unknown {
  const { wirePod, options } = readCase(raw, (vector) => ({
    wirePod: vector['pod'],
    options: readObject(vector, 'options', readOptions) ?? {},
  }));
  const pod = required(decodePod(wirePod));
  return { requests: printAmounts(podRequests(pod, options)), limits: printAmounts(podLimits(pod, options)) };
}

function readOptions(options: WireObject): PodResourceOptions {
  return {
    useStatus: readBoolean(options, 'useStatusResources'),
    usePodLevelStatus: readBoolean(options, 'inPlacePodLevelResourcesVerticalScalingEnabled'),
    excludeOverhead: readBoolean(options, 'excludeOverhead'),
    skipPodLevel: readBoolean(options, 'skipPodLevelResources'),
  };
}
