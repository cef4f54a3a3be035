// SPDX-License-Identifier: Apache-2.0
#include "data/image_decoder.h"

// clang-format off: jpeglib.h needs cstdio before it
#include <jerror.h>
#include <jpeglib.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
// clang-format on

#include <string>

#include <fmt/format.h>

namespace assay {
namespace {

constexpr int64_t kMaximumPixels = int64_t{1} << 27;

Error damaged(std::string_view format, std::string_view why, std::string_view place) {
  return Error{ErrorCode::kCorrupt, fmt::format("damaged {} image: {}", format, why),
               std::string(place)};
}

// libjpeg reports errors by a call that must not return: it jumps back to where decoding began.
// Everything alive across the jump is in here or belongs to the caller.
struct JpegReader {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  std::jmp_buf failure;
  char message[JMSG_LENGTH_MAX];
  bool truncated;
};

[[noreturn]] void jpeg_failed(j_common_ptr info) {
  auto* reader = static_cast<JpegReader*>(info->client_data);
  info->err->format_message(info, reader->message);
  std::longjmp(reader->failure, 1);
}

// Warnings: surplus bytes and odd markers are harmless and occur in ImageNet; missing data are not.
void jpeg_warned(j_common_ptr info, int level) {
  if (level >= 0) return;
  auto* reader = static_cast<JpegReader*>(info->client_data);
  const int code = info->err->msg_code;
  if (code != JWRN_JPEG_EOF && code != JWRN_HIT_MARKER && code != JWRN_HUFF_BAD_CODE) return;
  if (!reader->truncated) info->err->format_message(info, reader->message);
  reader->truncated = true;
}

// CMYK to RGB in place of nothing better than the plain product: no colour profile is applied.
// Adobe writes the four channels inverted.
void cmyk_to_rgb(const uint8_t* cmyk, int64_t width, bool inverted, uint8_t* rgb) {
  for (int64_t x = 0; x < width; ++x) {
    const int black = inverted ? cmyk[4 * x + 3] : 255 - cmyk[4 * x + 3];
    for (int64_t c = 0; c < 3; ++c) {
      const int ink = inverted ? cmyk[4 * x + c] : 255 - cmyk[4 * x + c];
      rgb[3 * x + c] = static_cast<uint8_t>((ink * black + 127) / 255);
    }
  }
}

// What can fail inside jumps out through jpeg_failed: no object with a destructor lives here.
bool run_jpeg(JpegReader* reader, std::string_view bytes, Image* image,
              std::vector<uint8_t>* cmyk_row) {
  if (setjmp(reader->failure) != 0) return false;  // NOLINT: libjpeg's only way to report
  jpeg_decompress_struct& info = reader->info;
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&info, TRUE);
  image->height = info.image_height;
  image->width = info.image_width;
  if (image->height * image->width > kMaximumPixels) {
    ERREXIT1(&info, JERR_IMAGE_TOO_BIG, JPEG_MAX_DIMENSION);
  }
  const bool cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&info);
  image->pixels.resize(static_cast<size_t>(image->height * image->width * 3));
  if (cmyk) cmyk_row->resize(static_cast<size_t>(image->width * 4));
  while (info.output_scanline < info.output_height) {
    uint8_t* target = image->pixels.data() + int64_t{info.output_scanline} * image->width * 3;
    JSAMPROW row = cmyk ? cmyk_row->data() : target;
    jpeg_read_scanlines(&info, &row, 1);
    if (cmyk) cmyk_to_rgb(row, image->width, info.saw_Adobe_marker != 0, target);
  }
  jpeg_finish_decompress(&info);
  return !reader->truncated;
}

Result<void> decode_jpeg(std::string_view bytes, std::string_view place, Image& image) {
  JpegReader reader{};
  std::vector<uint8_t> cmyk_row;
  reader.info.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = jpeg_failed;
  reader.errors.emit_message = jpeg_warned;
  reader.info.client_data = &reader;
  jpeg_create_decompress(&reader.info);
  const bool decoded = run_jpeg(&reader, bytes, &image, &cmyk_row);
  jpeg_destroy_decompress(&reader.info);
  if (!decoded) return damaged("JPEG", reader.message, place);
  return {};
}

Result<void> decode_png(std::string_view bytes, std::string_view place, Image& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) {
    return damaged("PNG", png.message, place);
  }
  image.height = png.height;
  image.width = png.width;
  if (image.height * image.width > kMaximumPixels) {
    png_image_free(&png);
    return damaged("PNG", "it is too large", place);
  }
  png.format = PNG_FORMAT_RGB;
  image.pixels.resize(PNG_IMAGE_SIZE(png));
  const png_color black{};
  const int done = png_image_finish_read(&png, &black, image.pixels.data(), 0, nullptr);
  png_image_free(&png);
  if (done == 0) return damaged("PNG", png.message, place);
  return {};
}

}  // namespace

Result<void> decode_image(std::string_view bytes, std::string_view place, Image& image) {
  if (bytes.starts_with("\xff\xd8")) return decode_jpeg(bytes, place, image);
  if (bytes.starts_with("\x89PNG")) return decode_png(bytes, place, image);
  return Error{bytes.empty() ? ErrorCode::kCorrupt : ErrorCode::kUnsupported,
               bytes.empty() ? "the image file is empty" : "the image is neither JPEG nor PNG",
               std::string(place)};
}

}  // namespace assay
