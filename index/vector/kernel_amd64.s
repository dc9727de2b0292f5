#include "textflag.h"

// 16 words of 1, to add pairs of words into doublewords.
DATA ones16<>+0(SB)/8, $0x0001000100010001
DATA ones16<>+8(SB)/8, $0x0001000100010001
DATA ones16<>+16(SB)/8, $0x0001000100010001
DATA ones16<>+24(SB)/8, $0x0001000100010001
GLOBL ones16<>(SB), RODATA|NOPTR, $32

// Order of the doublewords after two lane-wise packs.
DATA unpack<>+0(SB)/8, $0x0000000400000000
DATA unpack<>+8(SB)/8, $0x0000000500000001
DATA unpack<>+16(SB)/8, $0x0000000600000002
DATA unpack<>+24(SB)/8, $0x0000000700000003
GLOBL unpack<>(SB), RODATA|NOPTR, $32

DATA absMask<>+0(SB)/4, $0x7FFFFFFF
GLOBL absMask<>(SB), RODATA|NOPTR, $4

// One block of 32 codes of one row: |q| * (row with the sign of q), pairs to words (at most 2*127*127 < 2^15).
#define CODES(row, tmp, sum) \
	VMOVDQU    (row)(R12*1), tmp \
	VPSIGNB    Y8, tmp, tmp      \
	VPMADDUBSW tmp, Y9, tmp      \
	VPMADDWD   Y10, tmp, tmp     \
	VPADDD     tmp, sum, sum

// The same with AVX-512 VNNI, where one instruction multiplies and adds up fours.
#define VNNICODES(row, tmp, sum) \
	VMOVDQU  (row)(R12*1), tmp \
	VPSIGNB  Y8, tmp, tmp      \
	VPDPBUSD tmp, Y9, sum

// The products of the query at DX, BX bytes long, with the rows at R8 to R11, as four floats in X0, not scaled yet.
// Uses R12, Y0 to Y9.
#define FOURROWS \
	VPXOR Y0, Y0, Y0 \
	VPXOR Y1, Y1, Y1 \
	VPXOR Y2, Y2, Y2 \
	VPXOR Y3, Y3, Y3 \
	XORQ R12, R12

#define BLOCK(form) \
	VMOVDQU (DX)(R12*1), Y8 \
	VPABSB  Y8, Y9          \
	form(R8, Y4, Y0)        \
	form(R9, Y5, Y1)        \
	form(R10, Y6, Y2)       \
	form(R11, Y7, Y3)       \
	ADDQ $32, R12           \
	CMPQ R12, BX

#define SUMS \
	VPHADDD Y1, Y0, Y0        \
	VPHADDD Y3, Y2, Y2        \
	VPHADDD Y2, Y0, Y0        \
	VEXTRACTI128 $1, Y0, X1   \
	VPADDD X1, X0, X0         \
	VCVTDQ2PS X0, X0

// rowDots: the first two groups are asked from memory before anything is computed, then each group two ahead of its turn.
#define ROWDOTS(form) \
	MOVQ out+0(FP), DI \
	MOVQ at+8(FP), SI \
	MOVQ groups+16(FP), CX \
	MOVQ q+24(FP), DX \
	MOVQ size+32(FP), BX \
	VMOVDQU ones16<>(SB), Y10 \
	MOVQ $2, R13 \
ahead: \
	CMPQ R13, CX \
	JLE  known \
	MOVQ CX, R13 \
known: \
	SHLQ $2, R13 \
	XORQ AX, AX \
first: \
	MOVQ (SI)(AX*8), R8 \
	XORQ R12, R12 \
firstline: \
	PREFETCHT0 (R8)(R12*1) \
	ADDQ $64, R12 \
	CMPQ R12, BX \
	JLT  firstline \
	INCQ AX \
	CMPQ AX, R13 \
	JLT  first \
group: \
	CMPQ CX, $2 \
	JLE  last \
	MOVQ 64(SI), R8 \
	MOVQ 72(SI), R9 \
	MOVQ 80(SI), R10 \
	MOVQ 88(SI), R11 \
	XORQ R12, R12 \
line: \
	PREFETCHT0 (R8)(R12*1) \
	PREFETCHT0 (R9)(R12*1) \
	PREFETCHT0 (R10)(R12*1) \
	PREFETCHT0 (R11)(R12*1) \
	ADDQ $64, R12 \
	CMPQ R12, BX \
	JLT  line \
last: \
	MOVQ 0(SI), R8 \
	MOVQ 8(SI), R9 \
	MOVQ 16(SI), R10 \
	MOVQ 24(SI), R11 \
	ADDQ $32, SI \
	FOURROWS \
block: \
	BLOCK(form) \
	JLT  block \
	SUMS \
	VMOVUPS X0, (DI) \
	ADDQ $16, DI \
	DECQ CX \
	JNZ  group \
	VZEROUPPER \
	RET

// scanDots: two groups ahead; beyond the end a prefetch does no harm.
#define SCANDOTS(form) \
	MOVQ out+0(FP), DI \
	MOVQ rows+8(FP), R8 \
	MOVQ stride+16(FP), SI \
	MOVQ groups+24(FP), CX \
	MOVQ q+32(FP), DX \
	MOVQ size+40(FP), BX \
	VMOVDQU ones16<>(SB), Y10 \
	LEAQ (R8)(SI*1), R9 \
	LEAQ (R9)(SI*1), R10 \
	LEAQ (R10)(SI*1), R11 \
	SHLQ $2, SI \
	MOVQ SI, R13 \
	SHLQ $1, R13 \
scangroup: \
	LEAQ (R8)(R13*1), AX \
	XORQ R12, R12 \
scanline: \
	PREFETCHT0 (AX)(R12*1) \
	ADDQ $64, R12 \
	CMPQ R12, SI \
	JLT  scanline \
	FOURROWS \
scanblock: \
	BLOCK(form) \
	JLT  scanblock \
	SUMS \
	VMOVUPS X0, (DI) \
	ADDQ $16, DI \
	ADDQ SI, R8 \
	ADDQ SI, R9 \
	ADDQ SI, R10 \
	ADDQ SI, R11 \
	DECQ CX \
	JNZ  scangroup \
	VZEROUPPER \
	RET

// func rowDotsAVX2(out *float32, at **int8, groups int, q *int8, size int)
TEXT ·rowDotsAVX2(SB), NOSPLIT, $0-40
	ROWDOTS(CODES)

// func scanDotsAVX2(out *float32, rows *int8, stride, groups int, q *int8, size int)
TEXT ·scanDotsAVX2(SB), NOSPLIT, $0-48
	SCANDOTS(CODES)

// func rowDotsVNNI(out *float32, at **int8, groups int, q *int8, size int)
TEXT ·rowDotsVNNI(SB), NOSPLIT, $0-40
	ROWDOTS(VNNICODES)

// func scanDotsVNNI(out *float32, rows *int8, stride, groups int, q *int8, size int)
TEXT ·scanDotsVNNI(SB), NOSPLIT, $0-48
	SCANDOTS(VNNICODES)

// func above(scores, scales *float32, from, n int, factor, bar float32) int
TEXT ·above(SB), NOSPLIT, $0-48
	MOVQ scores+0(FP), DI
	MOVQ scales+8(FP), SI
	MOVQ from+16(FP), AX
	MOVQ n+24(FP), DX
	VBROADCASTSS factor+32(FP), Y0
	VBROADCASTSS bar+36(FP), Y1
	MOVQ AX, CX
	ANDQ $7, CX                     // before from, in the first eight
	ANDQ $-8, AX

aboveeight:
	CMPQ AX, DX
	JGE  abovenone
	VMULPS (SI)(AX*4), Y0, Y2
	VMULPS (DI)(AX*4), Y2, Y2
	VCMPPS $0x1D, Y1, Y2, Y2        // Y2 >= Y1
	VMOVMSKPS Y2, BX
	SHRL CX, BX
	SHLL CX, BX
	XORL CX, CX
	TESTL BX, BX
	JNZ  abovefound
	ADDQ $8, AX
	JMP  aboveeight

abovefound:
	BSFL BX, BX
	ADDQ BX, AX
	CMPQ AX, DX
	JLE  abovedone
abovenone:
	MOVQ DX, AX
abovedone:
	VZEROUPPER
	MOVQ AX, ret+40(FP)
	RET

// func topOf(v *float32, n int) float32
TEXT ·topOf(SB), NOSPLIT, $0-20
	MOVQ v+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSS absMask<>(SB), Y4
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1

toploop:
	VANDPS (SI), Y4, Y2
	VANDPS 32(SI), Y4, Y3
	VMAXPS Y2, Y0, Y0
	VMAXPS Y3, Y1, Y1
	VANDPS 64(SI), Y4, Y2
	VANDPS 96(SI), Y4, Y3
	VMAXPS Y2, Y0, Y0
	VMAXPS Y3, Y1, Y1
	ADDQ $128, SI
	SUBQ $32, CX
	JNZ  toploop

	VMAXPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPS X1, X0, X0
	VPSHUFD $0x4E, X0, X1
	VMAXPS X1, X0, X0
	VPSHUFD $0xB1, X0, X1
	VMAXPS X1, X0, X0
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

// Eight values: codes in c, what rounding took away squared and added to sum. Y14: inverse, Y15: scale.
#define ENCODE(offset, c, sum) \
	VMOVUPS   offset(SI), Y8 \
	VMULPS    Y14, Y8, c     \
	VCVTPS2DQ c, c           \
	VCVTDQ2PS c, Y9          \
	VMULPS    Y15, Y9, Y9    \
	VSUBPS    Y9, Y8, Y8     \
	VFMADD231PS Y8, Y8, sum

// func codesOf(dst *int8, v *float32, n int, inverse, scale float32) float32
TEXT ·codesOf(SB), NOSPLIT, $0-36
	MOVQ dst+0(FP), DI
	MOVQ v+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS inverse+24(FP), Y14
	VBROADCASTSS scale+28(FP), Y15
	VMOVDQU unpack<>(SB), Y13
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5

codesloop:
	ENCODE(0, Y0, Y4)
	ENCODE(32, Y1, Y5)
	ENCODE(64, Y2, Y4)
	ENCODE(96, Y3, Y5)
	VPACKSSDW Y1, Y0, Y0
	VPACKSSDW Y3, Y2, Y2
	VPACKSSWB Y2, Y0, Y0
	VPERMD Y0, Y13, Y0
	VMOVDQU Y0, (DI)
	ADDQ $128, SI
	ADDQ $32, DI
	SUBQ $32, CX
	JNZ  codesloop

	VADDPS Y5, Y4, Y4
	VEXTRACTF128 $1, Y4, X5
	VADDPS X5, X4, X4
	VPSHUFD $0x4E, X4, X5
	VADDPS X5, X4, X4
	VPSHUFD $0xB1, X4, X5
	VADDPS X5, X4, X4
	VMOVSS X4, ret+32(FP)
	VZEROUPPER
	RET

// func prefetch(p unsafe.Pointer, bytes int)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ bytes+8(FP), BX
	ADDQ AX, BX
fetchline:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	CMPQ AX, BX
	JLT  fetchline
	RET
