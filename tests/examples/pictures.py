"""PNG files without a library, and how far two pictures are from each other."""
import struct
import zlib


def read(path):
    """Width, height, and the bytes of the rows: eight bits for each of three colours."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, deflated, width, height = 8, b"", 0, 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        contents = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + contents) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0], path
        if kind == b"IHDR":
            width, height, *rest = struct.unpack(">IIBBBBB", contents)
            assert rest == [8, 2, 0, 0, 0], path
        if kind == b"IDAT":
            deflated += contents
        at += 12 + size
    rows = zlib.decompress(deflated)
    out, before = bytearray(), bytes(width * 3)
    for y in range(height):
        kind, row = rows[y * (width * 3 + 1)], bytearray(rows[y * (width * 3 + 1) + 1:(y + 1) * (width * 3 + 1)])
        for i in range(len(row)):
            left, up, corner = row[i - 3] if i >= 3 else 0, before[i], before[i - 3] if i >= 3 else 0
            nearest = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))[2]
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
        out += row
        before = bytes(row)
    return width, height, bytes(out)


def write(path, width, height, rgb):
    """Compressed: each row as its difference from the pixels to the left, which is small in smooth pictures."""
    rows = b"".join(b"\x01" + bytes((value - (row[i - 3] if i >= 3 else 0)) & 255 for i, value in enumerate(row))
                    for row in (rgb[y * width * 3:(y + 1) * width * 3] for y in range(height)))
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def blocks(picture, size):
    """The mean colours of squares of pixels: single pixels may differ from driver to driver."""
    width, height, rgb = picture
    means = []
    for y in range(0, height - size + 1, size):
        for x in range(0, width - size + 1, size):
            rows = [rgb[(line * width + x) * 3:(line * width + x + size) * 3] for line in range(y, y + size)]
            means += [sum(sum(row[colour::3]) for row in rows) / size**2 for colour in range(3)]
    return means


def difference(one, other, size=10):
    """Of 255: the mean and the greatest difference of squares."""
    assert one[:2] == other[:2], "the pictures are not of one size"
    apart = [abs(a - b) for a, b in zip(blocks(one, size), blocks(other, size))]
    return sum(apart) / len(apart), max(apart)
