/** What the first bytes of an AdmissionReview contain. */
export interface ReviewStart {
  readonly uid: string;
  /** `undefined` if these bytes do not contain it, because the name before it is too long. */
  readonly namespace: string | undefined;
  readonly username: string | undefined;
}

const LOOKED_AT_BYTES = 4_096;

/** In the order in which the API server writes them (k8s.io/api/admission/v1). */
const UID = /^\{"kind":"AdmissionReview","apiVersion":"admission\.k8s\.io\/v1","request":\{"uid":"([^"\\]{1,128})"/;
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
const KINDS = String.raw`"kind":\{[^}]*\},"resource":\{[^}]*\},(?:"subResource":${TEXT},)?"requestKind":\{[^}]*\},"requestResource":\{[^}]*\},(?:"requestSubResource":${TEXT},)?`;
const SENDER = new RegExp(
  String.raw`^,${KINDS}(?:"name":${TEXT},)?(?:"namespace":"([^"\\]*)",)?"operation":${TEXT},"userInfo":\{(?:"username":"([^"\\]*)")?`,
);

/** Reads the start of a body; `undefined` if it does not start as the API server writes a review. */
export function reviewStart(bytes: Buffer): ReviewStart | undefined {
  const text = bytes.toString('latin1', 0, LOOKED_AT_BYTES);
  const found = UID.exec(text);
  const [whole = '', uid] = found ?? [];
  if (uid === undefined) return undefined;
  const sender = SENDER.exec(text.slice(whole.length));
  return { uid, namespace: sender === null ? undefined : (sender[1] ?? ''), username: sender?.[2] };
}
