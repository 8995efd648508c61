// clGetMemObjectInfo: OpenCL 3.0, section 5.5.6.
#include "checks.hpp"

namespace clique::test::suite_clGetMemObjectInfo {

class clGetMemObjectInfo : public ApiTest {
 protected:
  template <typename T>
  static T get(cl_mem mem, cl_mem_info name) {
    return info<T>(::clGetMemObjectInfo, mem, name);
  }
};

TEST_F(clGetMemObjectInfo, GivenBufferThenWhatItWasMadeWith) {
  cl_int err = CL_SUCCESS;
  const Mem mem(clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR | CL_MEM_HOST_WRITE_ONLY,
                               123, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(cl_mem_object_type{CL_MEM_OBJECT_BUFFER}, get<cl_mem_object_type>(mem, CL_MEM_TYPE));
  EXPECT_EQ(cl_mem_flags{CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR | CL_MEM_HOST_WRITE_ONLY},
            get<cl_mem_flags>(mem, CL_MEM_FLAGS));
  EXPECT_EQ(123U, get<size_t>(mem, CL_MEM_SIZE));
  EXPECT_EQ(nullptr, get<void*>(mem, CL_MEM_HOST_PTR));
  EXPECT_EQ(0U, get<cl_uint>(mem, CL_MEM_MAP_COUNT));
  EXPECT_EQ(1U, get<cl_uint>(mem, CL_MEM_REFERENCE_COUNT));
  EXPECT_EQ(context.get(), get<cl_context>(mem, CL_MEM_CONTEXT));
  EXPECT_EQ(nullptr, get<cl_mem>(mem, CL_MEM_ASSOCIATED_MEMOBJECT));
  EXPECT_EQ(0U, get<size_t>(mem, CL_MEM_OFFSET));
  EXPECT_EQ(cl_bool{CL_FALSE}, get<cl_bool>(mem, CL_MEM_USES_SVM_POINTER));
}

TEST_F(clGetMemObjectInfo, GivenHostPointerThenReportedOnlyWhenUsed) {
  cl_int host[8] = {};
  cl_int err = CL_SUCCESS;
  const Mem used(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof host, host, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(host, get<void*>(used, CL_MEM_HOST_PTR));
  EXPECT_EQ(cl_bool{CL_FALSE}, get<cl_bool>(used, CL_MEM_USES_SVM_POINTER));
  const Mem copied(clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof host, host, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(nullptr, get<void*>(copied, CL_MEM_HOST_PTR));
}

TEST_F(clGetMemObjectInfo, GivenMapsThenTheirCount) {
  const Mem mem = buffer<cl_int>(16);
  cl_int err = CL_SUCCESS;
  std::vector<void*> pointers;
  for (cl_uint i = 1; i <= 3; ++i) {
    pointers.push_back(
        clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 16, 0, nullptr, nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    EXPECT_EQ(i, get<cl_uint>(mem, CL_MEM_MAP_COUNT));
  }
  for (void* pointer : pointers) ASSERT_CL(clEnqueueUnmapMemObject(queue, mem, pointer, 0, nullptr, nullptr));
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ(0U, get<cl_uint>(mem, CL_MEM_MAP_COUNT));
}

TEST_F(clGetMemObjectInfo, GivenNoPropertiesThenEmptyList) {
  const Mem mem = buffer<cl_int>(16);
  size_t size = 1;
  EXPECT_CL(::clGetMemObjectInfo(mem, CL_MEM_PROPERTIES, 0, nullptr, &size));
  EXPECT_EQ(0U, size);
}

TEST_F(clGetMemObjectInfo, GivenAnyNameThenSizeAndNameRulesHold) {
  const Mem mem = buffer<cl_int>(16);
  for (const cl_mem_info name :
       {CL_MEM_TYPE, CL_MEM_FLAGS, CL_MEM_SIZE, CL_MEM_HOST_PTR, CL_MEM_MAP_COUNT, CL_MEM_REFERENCE_COUNT,
        CL_MEM_CONTEXT, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_OFFSET, CL_MEM_USES_SVM_POINTER}) {
    SCOPED_TRACE(name);
    expect_info_rules(::clGetMemObjectInfo, mem.get(), name);
  }
}

TEST_F(clGetMemObjectInfo, GivenNullThenInvalidMemObject) {
  size_t value = 0;
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, ::clGetMemObjectInfo(nullptr, CL_MEM_SIZE, sizeof value, &value, nullptr));
}

}  // namespace clique::test::suite_clGetMemObjectInfo
