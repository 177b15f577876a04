// The text of a file that a reader chose or dropped: unpacked if it is gzip, whatever its encoding.

// Largest file that is read into a text, packed or not. [bytes]
export const LARGEST_FILE = 20_000_000;

const MARKS = [
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

const startsWith = (bytes, mark) => mark.every((byte, i) => bytes[i] === byte);

/** Return the texts of several files as one, each below the line that `tail -n +1` prints above it. */
export const together = (files, texts) => texts.map((text, at) => `==> ${files[at].name} <==\n${text}\n`).join("");

/** Return the text of a file; reject if it is packed and damaged, or too large when it is unpacked. */
export async function textOf(file) {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const packed = startsWith(head, [0x1f, 0x8b]);
  const stream = packed ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  const parts = [];
  let size = 0;
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > LARGEST_FILE) {
      await reader.cancel();
      throw new Error("unpacked it is larger than 20 MB");
    }
    parts.push(part.value);
  }
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  const [encoding] = MARKS.find(([, mark]) => startsWith(bytes, mark)) ?? ["utf-8"];
  return new TextDecoder(encoding).decode(bytes);
}
